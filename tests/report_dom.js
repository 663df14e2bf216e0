/* As much of a browser's document as the report's script needs; no engine has it on its own. */
"use strict";

function Node(name, attributes) {
  this.name = name;
  this.attributes = attributes || {};
  this.children = [];
  this.text = "";
  this.parentNode = null;
  this.listeners = {};
  this.style = {};
}

Node.prototype = {
  getAttribute: function (name) {
    return Object.prototype.hasOwnProperty.call(this.attributes, name) ? this.attributes[name] : null;
  },
  setAttribute: function (name, value) { this.attributes[name] = String(value); },
  removeAttribute: function (name) { delete this.attributes[name]; },
  appendChild: function (child) {
    if (child.name === "#fragment") {
      child.children.slice().forEach(this.appendChild, this);
      return child;
    }
    child.remove();
    child.parentNode = this;
    this.children.push(child);
    return child;
  },
  remove: function () {
    if (this.parentNode === null) { return; }
    var siblings = this.parentNode.children;
    siblings.splice(siblings.indexOf(this), 1);
    this.parentNode = null;
  },
  addEventListener: function (kind, listener) {
    (this.listeners[kind] = this.listeners[kind] || []).push(listener);
  },
  dispatch: function (kind, event) {
    (this.listeners[kind] || []).forEach(function (listener) { listener(event || {}); });
  },
  all: function (test) {
    var inside = this.children.reduce(function (found, child) {
      return found.concat(child.all(test));
    }, []);
    return (test(this) ? [this] : []).concat(inside);
  },
  named: function (name) { return this.children.filter(function (one) { return one.name === name; }); },
  querySelectorAll: function (selector) {
    var parts = selector.split(".");
    return this.all(function (one) {
      return one.name === parts[0] && (parts.length === 1 || one.classList.contains(parts[1]));
    });
  },
  getElementById: function (id) {
    return this.all(function (one) { return one.attributes.id === id; })[0] || null;
  },
  createElement: function (name) { return new Node(name); },
  createDocumentFragment: function () { return new Node("#fragment"); },
};

function property(name, get, set) {
  Object.defineProperty(Node.prototype, name, { get: get, set: set });
}

property("classList", function () {
  var words = (this.attributes["class"] || "").split(" ");
  return { contains: function (word) { return words.indexOf(word) >= 0; } };
});
property("textContent", function () {
  return this.text + this.children.map(function (one) { return one.textContent; }).join("");
}, function (text) {
  this.children = [];
  this.text = text;
});
property("tHead", function () { return this.named("thead")[0]; });
property("tBodies", function () { return this.named("tbody"); });
property("caption", function () { return this.named("caption")[0]; });
property("rows", function () { return this.named("tr"); });
property("cells", function () { return this.children; });
property("body", function () { return this.all(function (one) { return one.name === "body"; })[0]; });

function build(tree) {
  var node = new Node(tree.name, tree.attributes);
  node.text = tree.text;
  tree.children.forEach(function (child) { node.appendChild(build(child)); });
  return node;
}
