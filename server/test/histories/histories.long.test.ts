import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anySeed } from '../support/chance.ts'
import { campaign } from './campaign.ts'

test('what the callers of two processes see has one order, also where one is killed', async () => {
  const said: string[] = []
  const { done } = await campaign({
    ...{ histories: 12, kills: 2, failovers: 0, parallel: 2, seed: anySeed() },
    isOver: () => false,
    say: (line) => said.push(line),
  })
  assert.equal(done.length, 12)
  assert.ok(
    done.every(({ violations, fault }) => violations === 0 && fault === undefined),
    said.join('\n'),
  )
  const answers = new Set(done.flatMap((result) => [...result.answers.keys()]))
  for (const won of ['approve: 200', 'deny: 200', 'cancel: 204', 'revoke: 200', 'extend: 201'])
    assert.ok(answers.has(won), `no call was answered with ${won}: the histories try too little`)
})
