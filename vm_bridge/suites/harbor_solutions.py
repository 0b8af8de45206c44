"""How each bundled task of terminals and desktops is solved on the command line, in the home folder."""

from collections.abc import Mapping

NOTE = """python3 - <<'PYTHON'
import json
notes = json.load(open("notes.json"))
notes["Shopping"] = "leeks and potatoes"
json.dump(notes, open("notes.json", "w"))
PYTHON"""
MEAN = """import csv
rows = [float(row["mm"]) for row in csv.DictReader(open("rainfall.csv"))]
print(f"{sum(rows) / len(rows):.2f}")"""
TOTAL = """import csv
print(sum(int(row["amount"]) for row in csv.DictReader(open("sales.csv"))))"""

SOLUTIONS: Mapping[tuple[str, str], str] = {
    ("terminal", "say_hello"): "echo hello world > hello.txt",
    ("terminal", "busiest_address"): "cut -d' ' -f1 access.log | sort | uniq -c | sort -rn "
    "| awk 'NR == 1 {print $2}' > top.txt",
    ("terminal", "over_forty"): "awk -F, 'NR > 1 && $2 > 40 {print $1}' people.csv | sort > over40.txt",
    ("terminal", "change_port"): "sed -i 's/^port = 8080$/port = 9090/' settings.ini",
    ("terminal", "clear_cache"): "find project -type f -name '*.tmp' -delete",
    ("terminal", "mean_rainfall"): f"python3 -c '{MEAN}' > answer.txt",
    (
        "terminal",
        "open_vault",
    ): "printf '42\\n400\\n1000\\n' | python3 vault.py > /dev/null && cp opened.txt answer.txt",
    ("terminal", "shopping_note"): NOTE,
    ("terminal", "dentist_note"): "echo Teeth > answer.txt",
    ("desktop", "say_hello"): "echo hello world > Desktop/hello.txt",
    ("desktop", "rename_report"): "mv Desktop/report.txt Desktop/final.txt",
    ("desktop", "fix_spelling"): "sed -i 's/recieve/receive/' Desktop/letter.txt",
    ("desktop", "shopping_list"): "printf 'milk\\neggs\\nbread\\n' > Desktop/shopping.txt",
    ("desktop", "chinese_greeting"): "echo 你好，世界 >> Desktop/greeting.txt",
    ("desktop", "delete_draft"): "rm Desktop/old-draft.txt",
    ("desktop", "count_lines"): "wc -l < data.csv > count.txt",
    ("desktop", "sort_names"): "LC_ALL=C sort -o names.txt names.txt",
    ("desktop", "make_executable"): "chmod +x run.sh",
    ("desktop", "archive_logs"): "mkdir Desktop/archive && mv Desktop/*.log Desktop/archive/",
    ("desktop", "multiply"): "echo $((37 * 24)) > answer.txt",
    ("desktop", "find_falcon"): 'basename "$(grep -l falcon Documents/*)" > answer.txt',
    ("desktop", "order_number"): "sed -n 's/^Order number: //p' Desktop/order.txt > answer.txt",
    ("desktop", "sum_sales"): f"python3 -c '{TOTAL}' > Desktop/total.txt",
    ("desktop", "sign_report"): "mkdir -p Desktop && bash make_report.sh && echo checked >> Desktop/report.txt",
}
"""By suite and name."""
