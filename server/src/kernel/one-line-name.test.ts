import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { isName, isPlainLine, onOneLine } from './one-line-name.ts'

/** Every code point that a text can hold. */
const characters = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))

/** By the properties of Unicode, of which the expressions spell the code points. */
const isForging = (character: string) => /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(character)

suite('a name (J8)', () => {
  test('contains every character but controls, line ends and marks that change the text direction', () => {
    const faulty = characters.filter((character) => isName(`a${character}b`) === isForging(character))
    assert.deepEqual(faulty, [])
    assert.equal(characters.filter(isForging).length, 65 + 2 + 12)
  })

  test('has a character that is no space', () => {
    const blank = characters.filter((character) => !isName(character) && !isForging(character))
    assert.deepEqual(
      blank.filter((character) => character.trim() !== ''),
      [],
    )
    for (const text of ['', ' ', '\u00a0\u2003 ']) assert.ok(!isName(text), JSON.stringify(text))
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
