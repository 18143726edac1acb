import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isName, isPlainLine, isSeen, onOneLine } from './one-line-name.ts'

/** Every code point that a text can hold. */
const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

/** By the properties of Unicode, of which the expressions spell the code points. */
const isForging = (character: string) => /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(character)

/** Without ink: also the letters and the symbol of which Unicode's categories do not say it. */
const isUnseen = (character: string) =>
  !/[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ||
  /[\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{1d159}]/u.test(character)

suite('a name (J8)', () => {
  test('contains every character but controls, line ends and marks that change the text direction', () => {
    const faulty = characters.filter((character) => isName(`a${character}b`) === isForging(character))
    assert.deepEqual(faulty, [])
    assert.equal(characters.filter(isForging).length, 65 + 2 + 12)
  })

  test('and a text of several lines are seen by the same characters', () => {
    const different = characters.filter((character) => !isForging(character) && isSeen(character) !== isName(character))
    assert.deepEqual(different, [])
    assert.deepEqual(
      ['\u2028\n\t\u202e', 'down\nsince\u202e nine'].map((text) => isSeen(text)),
      [false, true],
    )
  })

  test('has a character that one can see', () => {
    const blank = characters.filter((character) => !isName(character) && !isForging(character))
    const wrong = blank.filter((character) => !isUnseen(character))
    assert.deepEqual(wrong.slice(0, 20), [])
    const taken = characters.filter((character) => isUnseen(character) && isName(character))
    assert.deepEqual(taken.slice(0, 20), [])
    const unseen = {
      nothing: '',
      'a space': ' ',
      'spaces of other widths': '\u00a0\u2003 ',
      'the blank of Braille': '\u2800',
      'Hangul fillers': '\u3164\u115f\u1160\uffa0',
      'a space of no width': '\u200b',
      joiners: '\u200d\u200c',
      'a soft hyphen': '\u00ad',
      'a byte order mark': '\ufeff',
      'a variation selector': '\ufe0f',
      tags: '\u{e0041}\u{e0042}',
      'an accent on nothing': '\u0301',
      'a grapheme joiner': '\u034f',
      'all of these': ' \u2800\u3164\u200b\u0301\u{e0041} ',
    }
    for (const [what, text] of Object.entries(unseen)) {
      assert.ok(!isName(text), what)
      if (text !== '') assert.ok(isName(`${text}A`) && isName(`A${text}`), `a letter beside ${what}`)
    }
    for (const text of ['A', ' A ', 'Ada Lovelace', 'محمد علی‌پور', '👩‍👩‍👧', '🚪']) assert.ok(isName(text), text)
  })

  test('is refused with such a character at any place', () => {
    for (const mark of characters.filter(isForging)) {
      for (const text of [`${mark}Ada`, `Ada${mark}`, `Ada ${mark}Lovelace`, mark, ` ${mark} `])
        assert.ok(!isName(text), JSON.stringify(text))
    }
  })
})

suite('a plain line', () => {
  test('is blank, or a name', () => {
    const faulty = characters.filter((character) => isPlainLine(`a${character}b`) === isForging(character))
    assert.deepEqual(faulty, [])
    for (const text of ['', '  ']) assert.ok(isPlainLine(text), JSON.stringify(text))
  })

  test('can be made of any text', () => {
    const all = characters.join('')
    assert.ok(isPlainLine(onOneLine(all)))
    const visible = (text: string) => [...text].filter((one) => one.trim() !== '' && !isForging(one)).join('')
    assert.equal(visible(onOneLine(all)), visible(all))
    assert.equal(onOneLine(' a\r\n\tb\u0085c\u2028d '), 'a b c d')
    assert.equal(onOneLine('\u202eAda\u202c \u200fLovelace'), 'Ada Lovelace')
  })
})
