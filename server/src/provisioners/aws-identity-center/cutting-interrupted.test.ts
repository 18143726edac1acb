import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { noTx, openAwsTarget, patient, toTheEnd } from '../../../test/support/aws-stage.ts'
import { type Cut, interruptCall } from '../../../test/support/interrupted-call.ts'
import type { Driver, Progress, Target } from '../driver.ts'
import { awsIdentityCenterAt } from './aws-identity-center.ts'

const { aws, opening, accounts, sets, inputFor } = await openAwsTarget({}, { cut_sessions: true })
const [account] = accounts
const set = sets.ReadOnly
const statement = { Effect: 'Allow', Action: 's3:*', Resource: '*' }
aws.setPolicyByHand(set, JSON.stringify({ Version: '2012-10-17', Statement: [statement] }))
aws.assignByHand(account, set, aws.addUser('bystander@example.com'))
aws.settings.acts.checks = 1

const openProcess = (): Driver => awsIdentityCenterAt({ callsASecond: 5_000, operations: 500 }, 0).open(opening)

const ways = {
  'the process dies after a call took effect': { cut: 'after', dies: true },
  'the connection is cut before a call takes effect': { cut: 'before', dies: false },
  'the connection is cut after a call took effect and before its answer': { cut: 'after', dies: false },
} as const

/** A revoke as the ledger runs it: what fails is tried again; a process that dies leaves nothing but the last known reference. */
async function revoke(target: Target, cut: Cut): Promise<boolean> {
  let one = openProcess()
  const wasCut = interruptCall(aws, cut)
  let dead = false
  let progress: Progress = { done: false, reference: '' }
  while (!progress.done) {
    const { reference }: { reference: string } = progress
    try {
      progress =
        reference === '' ? await one.revoke(noTx, target, patient) : await one.poll(noTx, target, reference, patient)
    } catch {
      if (cut.dies && wasCut() && !dead) {
        dead = true
        aws.behave()
        await one.close()
        one = openProcess()
      }
      await pause(5)
    }
  }
  aws.behave()
  await one.close()
  assert.deepEqual(progress.sessions, { seconds: 0, note: null })
  return wasCut()
}

suite('whichever call of a revoke is interrupted, the sessions end with it', () => {
  for (const [way, cut] of Object.entries(ways)) {
    test(`if ${way}`, async () => {
      const driver = openProcess()
      let call = -1
      let came = true
      while (came) {
        call += 1
        // Those of earlier revokes would fill the policy.
        aws.setPolicyByHand(set, JSON.stringify({ Version: '2012-10-17', Statement: [statement] }))
        const input = inputFor({ type: 'cloud_account', id: account }, 'ReadOnly')
        const { target } = await driver.plan(noTx, input, patient)
        const end = new Date(Date.now() + 3_600_000)
        await toTheEnd(driver, target, () => driver.grant(noTx, target, end, patient))
        const session = aws.signIn(account, set, input.principal_id)
        assert.ok(aws.accepts(session))
        came = await revoke(target, { ...cut, call })
        assert.ok(!aws.accepts(session), `cut at call ${call}`)
        assert.ok(!aws.assignments().some(({ principal }) => principal === input.principal_id))
      }
      assert.ok(call > 10, `it was cut at each of its ${call} calls`)
      await driver.close()
    })
  }
})
