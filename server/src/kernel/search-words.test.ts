import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../test/support/chance.ts'
import { testDatabase } from '../../test/support/database.ts'
import { rounds } from '../../test/support/race.ts'
import { beginningsWithout, searchWords } from './search-words.ts'

const { asSuperuser } = await testDatabase()

test('the words of a text are those that the database finds', async () => {
  const letters = fc.constantFrom(
    ...'aÀéßİıǅŒﬁ1-_. /\'"()@,;:·×÷¿\u0301\u00a0\u2003\u2019\u3000\u3042日本ωΣς'.split(''),
  )
  const texts = fc.array(fc.string({ unit: letters, maxLength: 90 }))
  const property = fc.asyncProperty(texts, async (some) => {
    const rows = await asSuperuser<{ words: string[] }>(
      'select search_words(text) as words from unnest($1::text[]) with ordinality t (text, place) order by place',
      [some],
    )
    for (const [index, text] of some.entries())
      assert.deepEqual(searchWords(text), rows[index]?.words, JSON.stringify(text))
  })
  await fc.assert(property, { numRuns: rounds(50).length })
})

test('a beginning is found where a word begins with it', () => {
  assert.deepEqual(beginningsWithout(searchWords('Payments-Prod'), ['pay', 'prod', 'ments', 'prods']), [
    'ments',
    'prods',
  ])
})
