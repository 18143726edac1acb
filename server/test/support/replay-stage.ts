import assert from 'node:assert/strict'
import { newId } from '../../src/kernel/id.ts'
import type { Replay } from '../../src/policy-analysis/replay/replay.ts'
import { runReplay } from '../../src/policy-analysis/replay/run-replay.job.ts'
import type { House } from './house.ts'
import { requestStage } from './request-stage.ts'
import { until } from './wait.ts'
import { startWorkers } from './workers.ts'

type Stage = Awaited<ReturnType<typeof requestStage>>

/** Tenants whose owners replay drafts of their policies. */
export function replayStage(house: House) {
  const stage = () => requestStage(house, newId())

  /** Replays a draft, and waits for the end of the replay. */
  async function replayed(on: Stage, draft: object, days?: number): Promise<Replay> {
    const { id } = await begun(on, draft, days)
    const workers = startWorkers(house, [runReplay])
    try {
      return await until('the replay is over', async () => {
        const replay = await read(on, id)
        return replay.finished_at !== null && replay
      })
    } finally {
      await workers.stop()
    }
  }

  async function begun(on: Stage, draft: object, days?: number): Promise<Replay> {
    const reply = await on.call(on.owner, 'POST', '/v1/policies/replay', { draft, ...(days !== undefined && { days }) })
    assert.equal(reply.status, 202, reply.text)
    return reply.body as Replay
  }

  async function read(on: Stage, id: string): Promise<Replay> {
    const reply = await on.call(on.owner, 'GET', `/v1/policies/replay/${id}`)
    assert.equal(reply.status, 200, reply.text)
    return reply.body as Replay
  }

  return { stage, begun, read, replayed }
}

/** The result of a replay, which must have succeeded. */
export function resultOf({ result, error }: Replay) {
  assert.ok(result !== null, JSON.stringify(error))
  return result
}

/** The policies of the tenant, with their rules. */
export const rulesOf = async (on: Stage) =>
  (await on.call(on.owner, 'GET', '/v1/policies?limit=200')).body.data as {
    id: string
    rules: { id: string; policy_text: string }[]
  }[]
