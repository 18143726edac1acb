import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'
import { insertDirectoryUsers } from '../support/scim-rows.ts'
import { openScimStage } from '../support/scim-stage.ts'

/**
 * A directory that has just been read in: the database has no statistics of it yet, and guesses that it is small. A plan that compares each
 * user with each would run into the limit of a statement, and the answer would be 503.
 */
const { house, acme, directory } = await openScimStage()
const count = 10_000
const numbers = Array.from({ length: count }, (_, n) => n + 1)

before(() => insertDirectoryUsers(house, { tenant_id: acme.tenant_id, identity_provider_id: directory.id, count }))

suite('a search among many users of whom the database knows nothing yet', () => {
  const cases: [string, (n: number) => boolean][] = [
    ['userName eq "PERSON77@many.example"', (n) => n === 77],
    ['emails[type eq "work"].value eq "person77@many.example"', (n) => n === 77],
    ['emails[type eq "work" and value sw "person77@"]', (n) => n === 77],
    ['externalId eq "x77" and active eq true and not (emails[type eq "home"])', (n) => n === 77],
    ['department eq "dept 7" and name.givenName eq "given7"', (n) => n % 500 === 7],
    ['active eq true', () => true],
    ['active eq true and title eq "title 7" and title ne "x"', (n) => n % 10 === 7],
    ['title pr and displayName pr', () => true],
    ['userName co "person77" and name.familyName ew "7"', (n) => /^77/.test(`${n}`) && n % 10 === 7],
    ['userName co "person77@" or name.familyName ew "y78"', (n) => n === 77 || n === 78],
    ['active eq true and displayName co "n 77"', (n) => /^77/.test(`${n}`)],
    ['emails[type eq "work" and value co "n77@"]', (n) => n === 77],
    ['emails[type eq "home" or value co "n77@"]', (n) => n === 77],
    ['not (emails[type eq "home"]) and not (nickName pr)', () => true],
    ['emails[not (type eq "work")]', () => false],
  ]
  for (const [filter, finds] of cases) {
    test(`finds whom ${filter} says`, async () => {
      const { status, body, text } = await directory.call('GET', `/Users?count=1&filter=${encodeURIComponent(filter)}`)
      assert.deepEqual([status, body.totalResults], [200, numbers.filter(finds).length], text)
    })
  }

  test('finds the last by their place', async () => {
    const { body } = await directory.call('GET', `/Users?startIndex=${count}&sortBy=userName`)
    assert.deepEqual([body.totalResults, body.itemsPerPage], [count, 1])
  })
})
