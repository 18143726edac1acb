import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { type ClaimVerdict, type FoundClaim, judgeClaim, type KeptClaim, maxLostBeatMs } from './claim.ts'

const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString()
const self = { id: 'us', epoch: 20, adopted_epoch: null as number | null }
const kept: KeptClaim = { token: 'b', token_before: 'a', epoch: 20, beat_at: at(0), is_old: false, holder: null }
const there: FoundClaim = { installation: 'us', epoch: 20, token: 'b', at: at(0), signature: '', is_signed: true }

type Case = {
  when: string
  self?: Partial<typeof self>
  kept?: Partial<KeptClaim> | null
  found?: Partial<FoundClaim> | null
  verdict: ClaimVerdict
}

const cases: Case[] = [
  { when: 'the target has what was written last', verdict: 'ours' },
  { when: 'nobody claims the target', found: null, verdict: 'write' },
  { when: 'nobody claims the target, for the first time', found: null, kept: null, verdict: 'write' },
  { when: 'the last write did not arrive', found: { token: 'a' }, verdict: 'write' },
  { when: 'another installation claims it', found: { installation: 'they', token: 'x' }, verdict: 'contested' },
  { when: 'another copy of the same epoch wrote on', found: { token: 'x', at: at(60_000) }, verdict: 'contested' },
  { when: 'a copy was adopted', found: { token: 'x', epoch: 21 }, verdict: 'contested' },
  { when: 'a claim is there that is not remembered', kept: null, found: { token: 'x' }, verdict: 'contested' },
  { when: 'a new epoch began, and nothing was lost', self: { epoch: 21 }, verdict: 'write' },
  {
    when: 'a failover lost one beat',
    self: { epoch: 21 },
    found: { token: 'x', at: at(maxLostBeatMs) },
    verdict: 'write',
  },
  {
    when: 'an old copy begins an epoch beside the original',
    self: { epoch: 21 },
    found: { token: 'x', at: at(maxLostBeatMs + 1) },
    verdict: 'contested',
  },
  {
    when: 'the original finds the copy that a failover made of it',
    found: { token: 'x', epoch: 21, at: at(1_000) },
    verdict: 'contested',
  },
  {
    when: 'the target was set back to what was written before',
    found: { token: 'x', at: at(-1_000) },
    verdict: 'write',
  },
  {
    when: 'the note of the other one was taken away',
    kept: { holder: { ...there, token: 'x' } },
    found: null,
    verdict: 'contested',
  },
  {
    when: 'the note of the other one was taken away, and the operator adopted it',
    self: { epoch: 30, adopted_epoch: 30 },
    kept: { holder: { ...there, token: 'x' } },
    found: null,
    verdict: 'write',
  },
  {
    when: 'a copy that never claimed it was promoted',
    self: { epoch: 21 },
    kept: { token: 'none', token_before: null, epoch: -1, holder: { ...there, token: 'x' } },
    found: { token: 'x', at: at(1_000) },
    verdict: 'contested',
  },
  {
    when: 'the target was set back under a copy that had found the original',
    kept: { holder: { ...there, token: 'x' } },
    verdict: 'contested',
  },
  {
    when: 'the note of a party without our key was taken away',
    kept: { holder: { ...there, token: 'x', is_signed: false } },
    found: null,
    verdict: 'write',
  },
  {
    when: 'the original, adopted long ago, claimed it after this copy was made',
    self: { epoch: 50, adopted_epoch: 30 },
    kept: null,
    found: { epoch: 30, token: 'x' },
    verdict: 'contested',
  },
  {
    when: 'a party without our key claims an epoch to come',
    self: { epoch: 30, adopted_epoch: 30 },
    found: { epoch: 9_999_999_999, token: 'x', is_signed: false },
    verdict: 'write',
  },
  {
    when: 'the operator adopted it since, whichever other one claims',
    self: { epoch: 30, adopted_epoch: 30 },
    found: { installation: 'they', epoch: 25, token: 'x' },
    verdict: 'write',
  },
  {
    when: 'the operator adopted it, and it was not remembered',
    self: { epoch: 30, adopted_epoch: 30 },
    kept: null,
    found: { installation: 'they', epoch: 25, token: 'x' },
    verdict: 'write',
  },
  {
    when: 'it was written since it was adopted, and another wrote over it',
    self: { epoch: 30, adopted_epoch: 30 },
    kept: { epoch: 30 },
    found: { token: 'x', epoch: 31 },
    verdict: 'contested',
  },
  {
    when: 'the first write after an adoption did not arrive',
    self: { epoch: 30, adopted_epoch: 30 },
    kept: { epoch: 30, token_before: 'x' },
    found: { installation: 'they', epoch: 25, token: 'x' },
    verdict: 'write',
  },
]

suite('the claim of a target, when', () => {
  for (const one of cases) {
    test(one.when, () => {
      const verdict = judgeClaim(
        { ...self, ...one.self },
        one.kept === null ? undefined : { ...kept, ...one.kept },
        one.found === null ? undefined : { ...there, ...one.found },
      )
      assert.equal(verdict, one.verdict)
    })
  }
})
