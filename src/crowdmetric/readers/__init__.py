"""Files and data frames in, checked items and comparisons out; and tables back to files.

Every refusal is one sentence that names the file, the line (or row, or column) and the remedy.
Lines are counted as a text editor shows them, so that the header of a CSV file is line 1.
"""

from crowdmetric.readers.sources import ENDINGS
from crowdmetric.readers.tables import read_comparisons, read_items, read_pairs, read_users
from crowdmetric.readers.writing import check_table, write_table

__all__ = [
    "ENDINGS",
    "check_table",
    "read_comparisons",
    "read_items",
    "read_pairs",
    "read_users",
    "write_table",
]
