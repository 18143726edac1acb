/** The pages and the console are two views of the same records: people who use both read the same words. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { english as consoleEnglish } from '../../../console/src/words/english.ts'
import { timesFor } from './confirm-page.ts'
import { german } from './words-de.ts'
import { english, type Words } from './words-en.ts'

type Catalog = typeof consoleEnglish

/** A module of the console by its name at run time: the types that it imports are those of a browser, which the server is not checked with. */
const ofConsole = (path: string): Promise<unknown> => import(`../../../console/src/${path}`)
const { german: consoleGerman } = (await ofConsole('words/german.ts')) as { german: Catalog }
const { shorterDurations } = (await ofConsole('requests/request.ts')) as {
  shorterDurations(requested: number): number[]
}

const statesOf = ({ requests, access }: Catalog): Words['states'] => ({
  waiting: requests.states.pending,
  approved: requests.states.approved,
  denied: requests.states.denied,
  unanswered: requests.states.expired,
  cancelled: requests.states.cancelled,
  starting: access.states.starting,
  active: access.states.active,
  ending: access.states.ending,
  ended: access.states.ended,
  endedEarly: access.states.endedEarly,
  failed: access.states.failed,
  stillHeld: access.states.stillHasAccess,
  drifted: access.states.changedByHand,
  emergency: access.emergency,
  highRisk: requests.highRisk,
})

suite('the words of states are those of the console', () => {
  const languages: [string, Words, Catalog][] = [
    ['English', english, consoleEnglish],
    ['German', german, consoleGerman],
  ]
  for (const [language, words, catalog] of languages) {
    test(`in ${language}`, () => assert.deepEqual(words.states, statesOf(catalog)))
  }
})

suite('the times that an approver is offered are those of the console', () => {
  for (const seconds of [600, 900, 3_600, 5_400, 28_800, 86_400, 2_592_000]) {
    test(`for ${seconds} s`, () =>
      assert.deepEqual([...timesFor({ duration_seconds: seconds }), seconds], shorterDurations(seconds)))
  }
})
