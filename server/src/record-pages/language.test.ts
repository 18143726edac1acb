import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { wordsFor } from './language.ts'
import { german } from './words-de.ts'
import { english } from './words-en.ts'

const own = (locale: string, chosen: string[]) => ({
  preferences: { locale, chosen, timezone: 'UTC', date_format: null, time_format: null },
})

suite('the language of a page', () => {
  const cases: [string, string | undefined, ReturnType<typeof own> | undefined, string][] = [
    ['English, where nobody says anything', undefined, undefined, 'en'],
    ['the first of the browser’s that there is', 'fr, de-CH, en', undefined, 'de'],
    ['the browser’s with the greatest weight', 'en;q=0.2, de;q=0.9', undefined, 'de'],
    ['none that the browser refuses', 'de;q=0, en;q=0.1', undefined, 'en'],
    ['English for a header that is no list', ';;,,q=1;=', undefined, 'en'],
    ['that of the person, before the browser’s', 'en', own('de-AT', ['locale']), 'de'],
    ['the browser’s, where the person chose one that there is not', 'de', own('ja', ['locale']), 'de'],
    ['the browser’s, before the tenant’s', 'de', own('en-US', ['timezone']), 'de'],
    ['the tenant’s, where the browser names none', 'ja', own('de', []), 'de'],
  ]
  for (const [name, header, person, language] of cases) {
    test(`is ${name}`, () => assert.equal(wordsFor(header, person).language, language))
  }

  test('has the same words in each', () => {
    const shape = (words: object): unknown[] =>
      Object.entries(words).map(([name, word]) => [
        name,
        typeof word === 'object' ? shape(word as object) : typeof word,
      ])
    assert.deepEqual(shape(german), shape(english))
  })
})

suite('people who may decide', () => {
  const cases: [string[], number, string][] = [
    [['Ada'], 1, 'Ada'],
    [['Ada', 'Ben'], 2, 'Ada or Ben'],
    [['Ada', 'Ben', 'Kim'], 3, 'Ada, Ben or Kim'],
    [['Ada', 'Ben', 'Kim', 'Lee'], 4, 'Ada, Ben and 2 more'],
    [['Ada', 'Ben', 'Kim'], 30, 'Ada, Ben and 28 more'],
  ]
  for (const [names, count, text] of cases) {
    test(`are named: ${text}`, () => assert.equal(english.people(names, count), text))
  }
})
