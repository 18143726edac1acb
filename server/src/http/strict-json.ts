import { invalidInput, type Problem } from '../kernel/errors.ts'

export type JsonLimits = {
  /** How deep objects and arrays may be nested. */
  depth: number
  /** How many values it may have, those in objects and arrays included. */
  values?: number | undefined
}

/** The state of a scan: the position in the text, and the path of keys and indices in the document. */
type Scan = { text: string; at: number; path: (string | number)[]; depth: number; left: number; values: number }

/**
 * Parses JSON that every parser reads alike: as `JSON.parse`, but refuses everything that another parser, or PostgreSQL,
 * would read differently. The time is linear in the length of the text.
 *
 * @throws Problem `invalid_input`, with the location, for malformed JSON, a byte order mark, a key given twice, the key
 * `__proto__`, NUL or a lone surrogate in a string or key, a number that would change its value, deeper nesting than
 * `limits.depth`, and more values than `limits.values`.
 */
export function parseStrictJson(text: string, limits: JsonLimits): unknown {
  const { depth, values = Number.POSITIVE_INFINITY } = limits
  const scan: Scan = { text, at: 0, path: [], depth, left: values, values }
  if (text.startsWith('\ufeff')) throw faulty(scan, 'begins with a byte order mark: send plain utf-8')
  skipSpace(scan)
  scanValue(scan)
  if (scan.at < text.length) throw malformed(scan, 'the end')
  return JSON.parse(text)
}

function scanValue(scan: Scan): void {
  scan.left -= 1
  if (scan.left < 0) throw invalidInput([{ pointer: '', why: `has more than ${scan.values} values: send less` }])
  switch (scan.text[scan.at]) {
    case '{':
      nested(scan, scanObject)
      break
    case '[':
      nested(scan, scanArray)
      break
    case '"':
      scanString(scan)
      break
    case 't':
      scanWord(scan, 'true')
      break
    case 'f':
      scanWord(scan, 'false')
      break
    case 'n':
      scanWord(scan, 'null')
      break
    default:
      scanNumber(scan)
  }
  skipSpace(scan)
}

function nested(scan: Scan, scanInside: (scan: Scan) => void): void {
  if (scan.path.length >= scan.depth) throw faulty(scan, `is nested deeper than ${scan.depth} levels: flatten it`)
  scan.at += 1
  skipSpace(scan)
  scanInside(scan)
  scan.at += 1
}

function scanObject(scan: Scan): void {
  if (scan.text[scan.at] === '}') return
  const keys = new Set<string>()
  for (;;) {
    if (scan.text[scan.at] !== '"') throw malformed(scan, 'a key in double quotes')
    const key = scanString(scan)
    scan.path.push(key)
    if (keys.has(key)) throw faulty(scan, 'is given twice: leave one out')
    if (key === '__proto__') throw faulty(scan, 'is a key that is not allowed: rename it')
    keys.add(key)
    skipSpace(scan)
    if (scan.text[scan.at] !== ':') throw malformed(scan, '`:` after the key')
    scan.at += 1
    skipSpace(scan)
    scanValue(scan)
    scan.path.pop()
    if (scan.text[scan.at] === '}') return
    if (scan.text[scan.at] !== ',') throw malformed(scan, '`,` or `}`')
    scan.at += 1
    skipSpace(scan)
  }
}

function scanArray(scan: Scan): void {
  if (scan.text[scan.at] === ']') return
  for (let index = 0; ; index += 1) {
    scan.path.push(index)
    scanValue(scan)
    scan.path.pop()
    if (scan.text[scan.at] === ']') return
    if (scan.text[scan.at] !== ',') throw malformed(scan, '`,` or `]`')
    scan.at += 1
    skipSpace(scan)
  }
}

const controlEnd = 0x20
const quote = 0x22
const backslash = 0x5c
const escapes = '"\\/bfnrt'
const fourHex = /[0-9a-fA-F]{4}/y

/** Scans one string and returns its value, unescaped. */
function scanString(scan: Scan): string {
  const { text } = scan
  const start = scan.at
  let escaped = false
  scan.at += 1
  for (let code = text.charCodeAt(scan.at); code !== quote; code = text.charCodeAt(scan.at)) {
    if (Number.isNaN(code)) throw malformed(scan, 'a closing `"`')
    if (code < controlEnd) throw malformed(scan, 'control characters to be escaped')
    if (code === backslash) {
      escaped = true
      skipEscape(scan)
    } else {
      scan.at += 1
    }
  }
  scan.at += 1
  const value: string = escaped ? JSON.parse(text.slice(start, scan.at)) : text.slice(start + 1, scan.at - 1)
  if (escaped && value.includes('\0')) throw faulty(scan, 'contains the character NUL: leave it out')
  if (!value.isWellFormed()) throw faulty(scan, 'contains half of a surrogate pair: send whole characters')
  return value
}

function skipEscape(scan: Scan): void {
  const letter = scan.text[scan.at + 1] ?? ''
  if (letter === 'u') {
    fourHex.lastIndex = scan.at + 2
    if (!fourHex.test(scan.text)) throw malformed(scan, 'four hexadecimal digits after `\\u`')
    scan.at += 6
  } else if (letter !== '' && escapes.includes(letter)) {
    scan.at += 2
  } else {
    throw malformed(scan, 'one of the escapes that JSON has')
  }
}

const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

function scanNumber(scan: Scan): void {
  numberForm.lastIndex = scan.at
  if (!numberForm.test(scan.text)) throw malformed(scan, 'a value')
  const written = scan.text.slice(scan.at, numberForm.lastIndex)
  if (!survives(written)) {
    throw faulty(scan, `is the number \`${shortened(written)}\`, which would change its value: send it as a string`)
  }
  scan.at = numberForm.lastIndex
}

const digitsThatSurvive = 15
const smallestNormal = 2 ** -1022
const wholeNumber = /^-?\d+$/
const plain = /^[-.\d]*$/
const writtenZero = /^[-.0]*(?:[eE]|$)/

/** Whether reading the number and writing it again gives the same value. */
function survives(written: string): boolean {
  const short = written.length <= digitsThatSurvive
  if (short && plain.test(written)) return true
  const number = Number(written)
  if (!Number.isFinite(number)) return false
  if (number === 0) return writtenZero.test(written)
  // Doubles lose precision near zero, and fewer digits survive.
  if (short && Math.abs(number) >= smallestNormal) return true
  if (wholeNumber.test(written)) return Number.isSafeInteger(number)
  const kept = String(number)
  return written === kept || decimalOf(written) === decimalOf(kept)
}

const numberParts = /(\d+)(?:\.(\d+))?(?:[eE](.+))?/

/** A number's decimal value in canonical form: its digits without outer zeros, and their power of ten. */
function decimalOf(written: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = numberParts.exec(written) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = withoutTrailingZeros(digits)
  if (significant === '') return '0'
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}

function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

function scanWord(scan: Scan, word: string): void {
  if (!scan.text.startsWith(word, scan.at)) throw malformed(scan, 'a value')
  scan.at += word.length
}

const spaces = /[ \t\n\r]*/y

function skipSpace(scan: Scan): void {
  if (scan.text.charCodeAt(scan.at) > controlEnd) return
  spaces.lastIndex = scan.at
  scan.at += spaces.exec(scan.text)?.[0].length ?? 0
}

/** The problem with the value at the scan's path, by its JSON pointer. */
function faulty(scan: Scan, why: string): Problem {
  const steps = scan.path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`)
  return invalidInput([{ pointer: steps.join(''), why }])
}

/** The problem that the text is not JSON at the scan's position. */
function malformed(scan: Scan, expected: string): Problem {
  const { line, column } = placeOf(scan)
  const [found] = scan.text.slice(scan.at, scan.at + 2)
  const met = found === undefined ? 'the text ends' : `found \`${found.toWellFormed()}\``
  const why = `is not JSON at line ${line}, column ${column}: expected ${expected}, ${met}`
  return invalidInput([{ pointer: '', why }])
}

function placeOf({ text, at }: Scan): { line: number; column: number } {
  let line = 1
  let begin = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', begin)) {
    line += 1
    begin = end + 1
  }
  return { line, column: at - begin + 1 }
}

function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`
}
