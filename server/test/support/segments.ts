/**
 * A part of a source text. `text`: a string, or a template other than SQL; `regexp`: a literal with its flags; `code`: the rest,
 * and what a template inserts.
 */
export type Segment = { kind: 'code' | 'comment' | 'text' | 'sql' | 'regexp'; start: number; end: number }

const sqlTag = /\bsql(?:<[^`]*>)?$/
const sqlStart =
  /^\s*(?:select\s|insert\s+into\s|update\s|delete\s+from\s|with\s+\w+\s+as\b|(?:create|alter|drop)\s+(?:table|role|database|index|function)\s)/i
/** A slash after one of these begins a regular expression; after anything else it divides. */
const beforeRegExp = /(?:^|[(,=:[!&|?{};+>]|\b(?:return|of|in|case|typeof))\s*$/
const regExp = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const string = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
/** From a template's backtick, or from the brace that ends an insertion, to the next insertion or the template's end. */
const templatePart = /[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*(?:`|\$\{|$)/y

/** A template that encloses a place: its kind, and the open braces of the insertion. */
type Template = { kind: 'text' | 'sql'; braces: number }

/** The segments of a TypeScript text, in order and without gaps. */
export function segmentsOf(text: string): Segment[] {
  const segments: Segment[] = []
  const templates: Template[] = []
  let at = 0
  while (at < text.length) {
    const next = segmentAt(text, at, templates)
    const last = segments.at(-1)
    if (last?.kind === 'code' && next.kind === 'code') last.end = next.end
    else segments.push(next)
    at = next.end
  }
  return segments
}

/** The segment that begins here; one of code may be a single character. `templates`: those around it, the innermost last. */
function segmentAt(text: string, start: number, templates: Template[]): Segment {
  const begin = text[start]
  const before = () => text.slice(Math.max(0, start - 200), start)
  const inside = templates.at(-1)
  if (begin === '`') {
    const isSql = sqlTag.test(before()) || sqlStart.test(text.slice(start + 1, start + 60))
    return templateSegment(text, start, isSql ? 'sql' : 'text', templates)
  }
  if (begin === '}' && inside?.braces === 0) {
    templates.pop()
    return templateSegment(text, start, inside.kind, templates)
  }
  if (begin === "'" || begin === '"') return { kind: 'text', start, end: endOf(string, text, start) ?? start + 1 }
  if (begin === '/') {
    const end = endOf(comment, text, start)
    if (end !== undefined) return { kind: 'comment', start, end }
    const endOfLiteral = beforeRegExp.test(before()) ? endOf(regExp, text, start) : undefined
    return endOfLiteral === undefined
      ? { kind: 'code', start, end: start + 1 }
      : { kind: 'regexp', start, end: endOfLiteral }
  }
  if (inside !== undefined && begin === '{') inside.braces++
  if (inside !== undefined && begin === '}') inside.braces--
  return { kind: 'code', start, end: start + 1 }
}

function templateSegment(text: string, start: number, kind: 'text' | 'sql', templates: Template[]): Segment {
  const end = endOf(templatePart, text, start) ?? text.length
  if (text.startsWith('${', end - 2)) templates.push({ kind, braces: 0 })
  return { kind, start, end }
}

function endOf(pattern: RegExp, text: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(text) ? pattern.lastIndex : undefined
}
