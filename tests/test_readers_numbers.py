"""Cells that are nearly numbers: what is understood, and what to do about the rest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowdmetric.errors import DataError
from crowdmetric.readers import read_items

ODD_NUMBERS = {
    "NA": "fill in the number that is missing, or remove the row or the column",
    "n/a": "fill in the number that is missing, or remove the row or the column",
    "-": "fill in the number that is missing, or remove the row or the column",
    "€2.50": "write the number alone, without a unit",
    "2.50 EUR": "write the number alone, without a unit",
    "50%": "write the number alone, without a unit",
    "1,200.50": "write it without separators of thousands, and with a decimal point if it has",
    "1'200": "write it without separators of thousands, and with a decimal point if it has",
    "2,5": "write it with a decimal point",
    "2024-05-31": "write a date as a number, such as the days since a certain day",
    "31.5.24": "write a date as a number, such as the days since a certain day",
    "<18": "replace the column by a 0/1 column per category, such as 'x=<18'",
    "hot": "replace the column by a 0/1 column per category, such as 'x=hot'",
}


@pytest.mark.parametrize("cell", ODD_NUMBERS)
def test_what_is_nearly_a_number_comes_with_a_remedy_of_its_own(cell, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f'item,x\nred,"{cell}"\nblue,2\n', encoding="utf-8")
    expected = f"the feature 'x' is {cell!r}, which is not a number; {ODD_NUMBERS[cell]}"
    frame = pd.DataFrame({"item": ["red"], "x": [cell]})
    for source, where in ((path, f"{path}, line 2: "), (frame, "the data frame, row 1: ")):
        with pytest.raises(DataError) as caught:
            read_items(source)
        assert str(caught.value).startswith(where + expected)


def test_true_and_false_are_numbers_in_text_too(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("item,new,kept\nred,True,1\nblue, false,TRUE\n")
    np.testing.assert_array_equal(read_items(path).features, [[1, 1], [0, 1]])
