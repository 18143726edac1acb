import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { english } from '../words/english.ts'
import { german } from '../words/german.ts'
import { type Quoted, quotedIn } from './quoted.ts'

const taken = 'the name `a` is taken: choose another'
const refused = (code: 'unprocessable' | 'internal', message: string) => ({ code, message })

const cases: [what: string, sentence: string, message: string, quoted: Quoted | undefined][] = [
  [
    'an English refusal, with a capital letter',
    english.refusal(refused('unprocessable', taken)),
    taken,
    { before: '', quoted: `T${taken.slice(1)}`, after: '.' },
  ],
  [
    'a German refusal that quotes it',
    german.refusal(refused('unprocessable', taken)),
    taken,
    { before: 'Der Dienst lehnt ab: „', quoted: taken, after: '“' },
  ],
  ['no words where a sentence of our own stands', german.refusal(refused('internal', taken)), taken, undefined],
  ['no words for no message', '.', '', undefined],
]

suite('the words of the service in a sentence', () => {
  for (const [what, sentence, message, quoted] of cases)
    test(`finds ${what}`, () => assert.deepEqual(quotedIn(sentence, message), quoted))
})
