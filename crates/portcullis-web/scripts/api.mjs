// What policies can use, read from the declarations that `portcullis init` gives to editors: the completion of the
// playground knows what they know, and there is no second list.
//
// A type without a name of its own gets one from its place: `PolicyObject.metadata`.

import ts from 'typescript';

/** Where the part begins that only tests of policies can use. */
const TESTS = '// ---- tests:';

/** The globals and the members of types: `Api` of src/editor/members.ts. */
export function policyApi(text) {
  const end = text.indexOf(TESTS);
  if (end < 0) throw new Error(`the declarations have no line \`${TESTS}\``);
  const source = ts.createSourceFile('portcullis.d.ts', text.slice(0, end), ts.ScriptTarget.Latest, true);
  const types = {};
  const globals = [];
  const interfaces = new Set(source.statements.filter(ts.isInterfaceDeclaration).map((one) => one.name.text));

  // The name under which the members of a type are listed, if it has any.
  const named = (type, place) => {
    if (!type) return undefined;
    if (ts.isUnionTypeNode(type)) return type.types.map((one) => named(one, place)).find((found) => found);
    if (ts.isTypeReferenceNode(type)) return interfaces.has(type.typeName.getText()) ? type.typeName.getText() : undefined;
    if (!ts.isTypeLiteralNode(type)) return undefined;
    types[place] = members(type.members, place);
    return types[place].length > 0 ? place : undefined;
  };
  // Of a method that is declared several times, the first declaration counts.
  const isFirst = (one, index, list) => list.findIndex((other) => other.name?.getText() === one.name.getText()) === index;
  const members = (list, place) => list.filter((one) => one.name && ts.isIdentifier(one.name)).filter(isFirst).map((one) => {
    const label = one.name.text;
    const isMethod = ts.isMethodSignature(one);
    return entry(label, isMethod ? 'method' : 'property', one, isMethod ? undefined : named(one.type, `${place}.${label}`));
  });
  const entry = (label, kind, node, type) => ({
    label,
    kind,
    detail: detail(node),
    ...(info(node) && { info: info(node) }),
    ...(type && { type }),
  });

  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement)) {
      types[statement.name.text] = members(statement.members, statement.name.text);
    } else if (ts.isFunctionDeclaration(statement)) {
      globals.push(entry(statement.name.text, 'function', statement));
    } else if (ts.isVariableStatement(statement)) {
      for (const one of statement.declarationList.declarations) {
        globals.push({ ...entry(one.name.text, 'variable', one, named(one.type, one.name.text)), ...(info(statement) && { info: info(statement) }) });
      }
    }
  }
  return { globals, types };
}

/** The type of something as it is written, on one line: of functions their parameters and what they return. */
function detail(node) {
  const written = (one) => (one?.getText() ?? 'any').replace(/\/\*\*.*?\*\//gs, '').replace(/\s+/g, ' ');
  const short = (text) => (text.length > 60 ? '{…}' : text);
  if (!node.parameters) return short(written(node.type));
  return `(${node.parameters.map(written).join(', ')}): ${written(node.type)}`;
}

/** What the comment before it says. */
function info(node) {
  const comment = ts.getJSDocCommentsAndTags(node).at(0)?.comment;
  return ts.getTextOfJSDocComment(comment)?.replace(/\s+/g, ' ');
}
