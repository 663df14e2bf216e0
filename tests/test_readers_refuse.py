"""What the readers refuse, and the sentence they do it with."""

import gzip
import json
import os
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from crowdmetric.comparisons import Items
from crowdmetric.errors import DataError
from crowdmetric.readers import read_comparisons, read_items, write_table

ITEMS = Items(("red", "blue", "green"), np.eye(3), ("a", "b", "c"))
HEADER = "user,left,right,response\n"
ROW = "ann,red,blue,left\n"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


BAD_COMPARISONS = {
    "empty file": ("", "x.csv: the file is empty; it needs a table with named columns"),
    "blank file": ("\n\n", "x.csv: the file is empty; it needs a line with the column names"),
    "header only": (HEADER.strip(), "x.csv: there are no comparisons; give at least one"),
    "no user": (
        "User,left,right,response\n" + ROW,
        "x.csv: the column 'user' is missing; the columns must be user, left, right, response "
        "(or user, winner, loser), but they are 'User', 'left', 'right', 'response'; "
        "rename 'User' to 'user'",
    ),
    "no response": (
        "user,left,right\nann,red,blue\n",
        "x.csv: the column 'response' is missing; the columns must be user, left, right, "
        "response (or user, winner, loser), but they are 'user', 'left', 'right'",
    ),
    "winner without user": (
        "winner,loser\nred,blue\n",
        "x.csv: the column 'user' is missing; the columns must be user, winner, loser, "
        "but they are 'winner', 'loser'",
    ),
    "semicolons": (
        "user;left;right;response\nann;red;blue;left\n",
        "x.csv: the cells are separated by ';', as spreadsheets do where numbers have a decimal "
        "comma; save the file with commas between cells and points in numbers, or read it in "
        "Python with pandas.read_csv(..., sep=';', decimal=',')",
    ),
    "tabs": (
        "user\tleft\tright\tresponse\nann\tred\tblue\tleft\n",
        "x.csv: the cells seem to be separated by '\\t', not by ',' as the ending of the name "
        "says; save the file with commas, as .csv",
    ),
    "capitals": (
        "USER,Winner, Loser\nann,red,blue\n",
        "x.csv: the column 'user' is missing; the columns must be user, winner, loser, but they "
        "are 'USER', 'Winner', 'Loser'; rename 'USER' to 'user' and 'Winner' to 'winner' and "
        "'Loser' to 'loser'",
    ),
    "winner and response": (
        "user,winner,loser,response\nann,red,blue,left\n",
        "x.csv: the columns 'winner' and 'loser' say who was preferred, and so would 'response'; "
        "keep one or the other, and remove or rename the rest",
    ),
    "winner and sides": (
        "user,left,right,winner,loser\nann,red,blue,blue,red\n",
        "x.csv: the columns 'winner' and 'loser' say who was preferred, and so would 'left' and "
        "'right'; keep one or the other, and remove or rename the rest",
    ),
    "zeros and ones": (
        HEADER + "ann,red,blue,0\nann,red,blue,1\n",
        "x.csv: the column 'response' holds 0 and 1 only, and 0 would mean a tie; write left and "
        "right for the item that was preferred (or -1 and 1), and tie for a tie",
    ),
    "a very long id": (
        HEADER + "ann,red," + "x" * 500 + ",left\n",
        f"x.csv, line 2: there is no item '{'x' * 39}...{'x' * 11}' among the 3 items; correct the "
        "id, or remove the row",
    ),
    "an empty row in the middle": (
        HEADER + ",,,\n" + ROW,
        "x.csv, line 2: the cell in the column 'user' is empty; fill it in, or remove the row",
    ),
    "a column twice": (
        "user,left,left,right,response\n",
        "x.csv, line 1: the column 'left' is there twice; rename one",
    ),
    "not UTF-8": (
        (HEADER + ROW).encode() + b"ann,red,bl\xfce,left\n",
        "x.csv, line 3: the text is not UTF-8; save the file as UTF-8",
    ),
    "UTF-16": (
        (HEADER + ROW).encode("utf-16"),
        "x.csv, line 1: the text is not UTF-8; save the file as UTF-8",
    ),
    "unknown item": (
        HEADER + ROW + "ann,red,bleu,left\n",
        "x.csv, line 3: there is no item 'bleu' among the 3 items; did you mean 'blue'?",
    ),
    "unknown integer item": (
        HEADER + "ann,7,red,left\n",
        "x.csv, line 2: there is no item '7' among the 3 items; correct the id, or remove the row",
    ),
    "itself": (
        HEADER + ROW + "ann,red,red,left\n",
        "x.csv, line 3: the item 'red' is compared with itself; correct or remove the row",
    ),
    "unknown response": (
        HEADER + ROW + "ann,red,blue,both\n",
        "x.csv, line 3: the response 'both' is none of left, right, tie (or -1, 1, 0); "
        "correct it, or remove the row",
    ),
    "misspelt response": (
        HEADER + "ann,red,blue,rigth\n",
        "x.csv, line 2: the response 'rigth' is none of left, right, tie (or -1, 1, 0); "
        "did you mean 'right'?",
    ),
    "number response": (
        HEADER + "ann,red,blue,2\n",
        "x.csv, line 2: the response '2' is none of left, right, tie (or -1, 1, 0); "
        "correct it, or remove the row",
    ),
    "missing response": (
        HEADER + "ann,red,blue,\n",
        "x.csv, line 2: the response is missing; give one of left, right, tie (or -1, 1, 0)",
    ),
    "missing user": (
        HEADER + ROW + ",red,blue,left\n",
        "x.csv, line 3: the cell in the column 'user' is empty; fill it in, or remove the row",
    ),
    "missing item": (
        HEADER + ROW + "ann,red, ,left\n",
        "x.csv, line 3: the cell in the column 'right' is empty; fill it in, or remove the row",
    ),
    "too few cells": (
        HEADER + ROW + "ann,red,left\n",
        "x.csv, line 3: the line has 3 cell(s), but the header has 4; give every line as many, "
        "and put text that holds a ',' in double quotes",
    ),
    "too many cells": (
        HEADER + "\n" + ROW + "ann,red,blue,left,\n",
        "x.csv, line 4: the line has 5 cell(s), but the header has 4; give every line as many, "
        "and put text that holds a ',' in double quotes",
    ),
    "open quote": (
        HEADER + ROW + 'ann,"red,blue,left\n' + ROW,
        "x.csv, line 3: a double quote is out of place (unexpected end of data); close every "
        "quote, and write two for one inside quotes",
    ),
    "negative weight": (
        "user,left,right,response,weight\nann,red,blue,left,-2\n",
        "x.csv, line 2: the weight -2 is negative; give 0 or more",
    ),
    "infinite weight": (
        "user,left,right,response,weight\nann,red,blue,left,inf\n",
        "x.csv, line 2: the weight is inf; give a finite number, 0 or more",
    ),
    "NaN weight": (
        "user,left,right,response,weight\nann,red,blue,left,NaN\n",
        "x.csv, line 2: the weight is nan; give a finite number, 0 or more",
    ),
    "missing weight": (
        "user,left,right,response,weight\nann,red,blue,left,1\nann,red,blue,left,\n",
        "x.csv, line 3: the weight is missing; give a finite number",
    ),
    "text weight": (
        "user,left,right,response,weight\nann,red,blue,left,1\nann,red,blue,left,high\n",
        "x.csv, line 3: the weight is 'high', which is not a number; "
        "give a finite number, 0 or more",
    ),
    "all weights zero": (
        "user,left,right,response,weight\nann,red,blue,left,0\n",
        "x.csv: all weights are zero; at least one answer must count",
    ),
    "missing time": (
        "user,left,right,response,time\nann,red,blue,left,\n",
        "x.csv, line 2: the time is missing; give every row one, or remove the column",
    ),
    "odd time": (
        "user,left,right,response,time\nann,red,blue,left,3\nann,red,blue,left,noon\n",
        "x.csv, line 3: the time 'noon' does not read like the others; give numbers only, or "
        "dates such as 2024-05-31T18:30:00 only",
    ),
    "no time at all": (
        "user,left,right,response,time\nann,red,blue,left,morning\n",
        "x.csv, line 2: the time 'morning' does not read like the others; give numbers only, or "
        "dates such as 2024-05-31T18:30:00 only",
    ),
    "blank lines and line ends in quotes": (
        HEADER + '\n\n"an\nn",red,blue,left\n\nann,red,rad,left\n',
        "x.csv, line 7: there is no item 'rad' among the 3 items; did you mean 'red'?",
    ),
    "Windows line ends": (
        (HEADER + "\n" + ROW + "ann,red,rad,left\n").replace("\n", "\r\n"),
        "x.csv, line 4: there is no item 'rad' among the 3 items; did you mean 'red'?",
    ),
}

BAD_ITEMS = {
    "no id column": (
        "name,x\nred,1\nblue,2\n",
        "x.csv: the column 'item' is missing; the columns must be 'item' and one per feature, "
        "but they are 'name', 'x'",
    ),
    "no features": (
        "item\nred\nblue\n",
        "x.csv: the items have no features; give at least one numeric column",
    ),
    "nameless column": (
        ",item,x\n0,red,1\n1,blue,2\n",
        "x.csv: column 1 has no name; name it if it is a feature, remove it if it numbers the rows",
    ),
    "one item": (
        "item,x\nred,1\n",
        "x.csv: a comparison needs at least two items, not 1; add more items",
    ),
    "no item": (
        "item,x\n",
        "x.csv: a comparison needs at least two items, not 0; add more items",
    ),
    "twice": (
        "item,x\nred,1\nblue,2\nred,3\n",
        "x.csv, lines 2 and 4: the item 'red' is given twice; keep one, or rename one",
    ),
    "twice but for blanks": (
        "item,x\n7,1\n\n 7,2\n",
        "x.csv, lines 2 and 4: the item 7 is given twice; keep one, or rename one",
    ),
    "missing id": (
        "item,x\nred,1\n,2\n",
        "x.csv, line 3: the cell in the column 'item' is empty; fill it in, or remove the row",
    ),
    "missing number": (
        "item,x\nred,1\nblue,\n",
        "x.csv, line 3: the feature 'x' is missing; give a finite number",
    ),
    "NaN": (
        "item,x,y\nred,1,2\nblue,1,NaN\n",
        "x.csv, line 3: the item 'blue' has nan in the column 'y'; give a finite number",
    ),
    "infinity": (
        "item,x\nred,-inf\nblue,2\n",
        "x.csv, line 2: the item 'red' has -inf in the column 'x'; give a finite number",
    ),
    "text": (
        "item,x,taste\nred,1,5\nblue,2,sweet\n",
        "x.csv, line 3: the feature 'taste' is 'sweet', which is not a number; replace the "
        "column by a 0/1 column per category, such as 'taste=sweet'",
    ),
    "decimal comma": (
        'item,x\nred,"1,5"\nblue,2\n',
        "x.csv, line 2: the feature 'x' is '1,5', which is not a number; "
        "write it with a decimal point",
    ),
}


def message(read, *arguments, **settings) -> str:
    with pytest.raises(DataError) as caught:
        read(*arguments, **settings)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize("name", BAD_COMPARISONS)
def test_bad_comparisons_are_refused_in_one_sentence(name, tmp_path):
    content, expected = BAD_COMPARISONS[name]
    path = write(tmp_path / "x.csv", content)
    assert message(read_comparisons, path, ITEMS) == f"{tmp_path}{os.sep}{expected}"


@pytest.mark.parametrize("name", BAD_ITEMS)
def test_bad_items_are_refused_in_one_sentence(name, tmp_path):
    content, expected = BAD_ITEMS[name]
    path = write(tmp_path / "x.csv", content)
    assert message(read_items, path) == f"{tmp_path}{os.sep}{expected}"


@pytest.mark.parametrize("name", [name for name in BAD_ITEMS if name != "decimal comma"])
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__module__)
def test_bad_items_in_a_data_frame_are_refused_too(name, make):
    lines = [line.split(",") for line in BAD_ITEMS[name][0].split("\n") if line]
    cells = [[cell.strip() or None for cell in line] for line in lines]
    frame = make({name or "": [row[j] for row in cells[1:]] for j, name in enumerate(lines[0])})
    assert message(read_items, frame).startswith("the data frame")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("answers.cvs", "x", "the ending '.cvs' says no known format; use one of .csv, .csv.gz,"),
        ("x.xlsx", "PK", "this is a spreadsheet; save its sheet as CSV (UTF-8)"),
        ("x.parquet", "x", "the file is not a Parquet file, or it is damaged; write it again"),
        ("x.arrow", "x", "the file is not an Arrow file, or it is damaged; write it again"),
        ("x.feather", "ARROW1x", "the file is not an Arrow file, or it is damaged; write it again"),
        ("x.csv.gz", "x", "the file is not gzip-compressed, or it is damaged; compress it again"),
        ("x.csv.gz", gzip.compress(b"user", mtime=0)[:-3], "the file is not gzip-compressed"),
        ("x.jsonl", "\n \n", "the file is empty; it needs one JSON object per line"),
        ("x.jsonl", "{}", "the column 'user' is missing; the columns must be user, left, right"),
    ],
)
def test_files_of_the_wrong_kind(name, content, expected, tmp_path):
    path = write(tmp_path / name, content)
    assert message(read_comparisons, path).startswith(f"{path}: {expected}")


@pytest.mark.parametrize("line", ["oops", "[1]", '"text"', "{"])
def test_json_lines_name_the_line_that_is_no_object(line, tmp_path):
    good = json.dumps({"user": 1, "winner": 2, "loser": 3})
    path = write(tmp_path / "x.jsonl", f"{good}\n\n{line}\n")
    assert message(read_comparisons, path).startswith(f"{path}, line 3: the line is not a JSON obj")


def test_json_lines_count_blank_lines_and_name_missing_keys(tmp_path):
    good = json.dumps({"user": 1, "winner": 2, "loser": 3})
    path = write(tmp_path / "x.jsonl", f'{good}\n\n{{"user": 1, "winner": 2}}\n')
    assert message(read_comparisons, path).startswith(
        f"{path}, line 3: the cell in the column 'loser' is empty"
    )
    path = write(tmp_path / "x.jsonl", f'{{"user": 1}}\n{good}\n')
    assert message(read_comparisons, path).startswith(
        f"{path}, line 1: the cell in the column 'winner' is empty"
    )
    path = write(tmp_path / "x.jsonl", '{"user": [1], "winner": 2, "loser": 3}')
    assert message(read_comparisons, path) == (
        f"{path}, line 1: the column 'user' holds [1]; give text or a number"
    )


def test_paths_that_lead_nowhere(tmp_path):
    write(tmp_path / "answers.csv", HEADER)
    missing = tmp_path / "anwsers.csv"
    assert message(read_comparisons, missing) == (
        f"{missing}: there is no such file; did you mean 'answers.csv'?"
    )
    missing = tmp_path / "test.csv"  # alike in the ending only
    assert message(read_items, missing) == f"{missing}: there is no such file; check the path"
    missing = tmp_path / "zzz.parquet"
    assert message(read_items, missing) == f"{missing}: there is no such file; check the path"
    missing = tmp_path / "no" / "x.csv"
    assert message(read_items, str(missing)) == (
        f"{missing}: there is no such file, nor a folder {str(missing.parent)!r}; check the path"
    )
    assert message(read_items, tmp_path) == (
        f"{tmp_path}: this is a folder; give the path of a file in it"
    )


def test_things_that_are_no_source():
    assert message(read_items, [1, 2]).startswith("a list cannot be read; give the path of a file")
    assert message(read_items, pl.LazyFrame({"item": [1]})).startswith("a LazyFrame cannot be read")


def test_binary_files_and_frames_count_rows(tmp_path):
    columns = {"user": ["ann"] * 2, "left": ["red", "rad"], "right": ["blue"] * 2}
    columns["response"] = ["left"] * 2
    write_table(tmp_path / "x.parquet", columns)
    expected = "row 2: there is no item 'rad' among the 3 items; did you mean 'red'?"
    path = tmp_path / "x.parquet"
    assert message(read_comparisons, path, ITEMS) == f"{path}, {expected}"
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        assert message(read_comparisons, make(columns), ITEMS) == f"the data frame, {expected}"


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"response": [True]}, "the response True is none of left, right, tie (or -1, 1, 0)"),
        ({"response": [0.5]}, "the response 0.5 is none of left, right, tie (or -1, 1, 0)"),
        ({"user": [None]}, "the cell in the column 'user' is empty"),
        ({"user": [float("nan")]}, "the cell in the column 'user' is empty"),
        ({"user": [[1]]}, "the column 'user' holds [1]; give text or a number"),
        ({"weight": [None]}, "the weight is missing; give a finite number"),
        ({"weight": [datetime(2024, 5, 31)]}, "the weight is '2024-05-31 00:00:00', which is not"),
        ({"time": [None]}, "the time is missing"),
        ({"time": [True]}, "the time True does not read like the others"),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda f: f.__module__)
def test_bad_cells_of_other_types(make, columns, expected):
    row = {"user": ["ann"], "left": ["red"], "right": ["blue"], "response": ["left"]}
    text = message(read_comparisons, make({**row, **columns}))
    assert text.startswith(f"the data frame, row 1: {expected}")


def test_two_columns_of_one_name_in_a_frame():
    frame = pd.DataFrame([[1, 2, 3]], columns=["item", "x", "x"])
    expected = "the data frame: the column 'x' is there twice; rename one"
    assert message(read_items, frame) == expected
    assert message(read_items, pa.table([[1], [2], [3]], names=["item", "x", "x"])) == expected
