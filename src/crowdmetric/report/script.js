"use strict";
(function () {
  /* Return the rows' places in the order asked for; what is missing (null) comes last. */
  function sorted(keys, ascending) {
    var places = keys.map(function (_, place) { return place; });
    return places.sort(function (one, other) {
      var a = keys[one], b = keys[other];
      if (a === null || b === null) {
        return (a === null) - (b === null) || one - other;
      }
      var order = typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
      return (ascending ? order : -order) || one - other;
    });
  }

  /* Return what a cell is sorted by: its number, or else its text; null if it is missing. */
  function key(cell, numeric) {
    if (!numeric) { return cell.textContent.trim(); }
    var value = cell.getAttribute("data-key");
    return value === null ? null : Number(value);
  }

  function sortBy(table, column, header) {
    var ascending = header.getAttribute("aria-sort") !== "ascending";
    var numeric = header.classList.contains("number");
    var body = table.tBodies[0], rows = Array.from(body.rows);
    var keys = rows.map(function (row) { return key(row.cells[column], numeric); });
    var pieces = document.createDocumentFragment();
    sorted(keys, ascending).forEach(function (place) { pieces.appendChild(rows[place]); });
    body.appendChild(pieces);
    Array.from(header.parentNode.cells).forEach(function (cell) {
      cell.removeAttribute("aria-sort");
    });
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    document.getElementById("said").textContent = table.caption.textContent + ": sorted by " +
      header.textContent + ", " + (ascending ? "ascending" : "descending");
  }

  /* Headers become buttons only here: without scripts there is nothing to press. */
  document.querySelectorAll("table.sortable").forEach(function (table) {
    Array.from(table.tHead.rows[0].cells).forEach(function (header, column) {
      var button = document.createElement("button");
      button.type = "button";
      button.textContent = header.textContent;
      button.addEventListener("click", function () { sortBy(table, column, header); });
      header.textContent = "";
      header.appendChild(button);
    });
  });

  /* Names appear at once, and on touch; browsers alone are slow, or do not show them. */
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.appendChild(tip);
  document.querySelectorAll("svg.pointed").forEach(function (picture) {
    var names = new Map();
    picture.querySelectorAll("title").forEach(function (title) {
      names.set(title.parentNode, title.textContent);
      title.remove();
    });
    function show(event) {
      var name = names.get(event.target);
      tip.hidden = name === undefined;
      if (tip.hidden) { return; }
      tip.textContent = name;
      var right = event.clientX > window.innerWidth / 2;
      tip.style.left = right ? "" : event.clientX + 12 + "px";
      tip.style.right = right ? window.innerWidth - event.clientX + 12 + "px" : "";
      tip.style.top = event.clientY + 12 + "px";
    }
    ["pointermove", "pointerdown"].forEach(function (kind) {
      picture.addEventListener(kind, show);
    });
    picture.addEventListener("pointerleave", function () { tip.hidden = true; });
  });

  /* What is folded away is printed too. */
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (part) { part.open = true; });
  });
})();
