import { newId } from '../../src/kernel/id.ts'
import type { Target } from '../../src/provisioners/driver.ts'
import { done, drivers, of, refuse } from './broken-drivers.ts'
import type { Stage } from './stage.ts'

export const wrongPlans = [
  ...of(
    'a plan changes nothing, and is the same each time and everywhere',
    [
      'it gives what it plans',
      /deep-equal/,
      (stage) =>
        drivers(stage, ({ plan }) => ({
          async plan(tx, ask, signal) {
            const planned = await plan(tx, ask, signal)
            await stage.target.give(ask).catch(() => undefined)
            return planned
          },
        })),
    ],
    [
      'another key each time',
      /deep-equal/,
      (stage) =>
        drivers(stage, ({ plan }) => ({ plan: async (...asked) => ({ ...(await plan(...asked)), key: newId() }) })),
    ],
    [
      'its target is more than JSON',
      /JSON/,
      (stage) =>
        drivers(stage, ({ plan }) => ({
          plan: async (...asked) => ({ ...(await plan(...asked)), target: { at: new Date(0) } }),
        })),
    ],
  ),
  ...of(
    'a plan names the entitlement: another grant of it has the same key, any other access another key',
    [
      'a key for each grant',
      /equal/,
      (stage) =>
        drivers(stage, ({ plan }) => ({
          plan: async (tx, ask, signal) => ({ ...(await plan(tx, ask, signal)), key: ask.grant_id }),
        })),
    ],
    [
      'one key for all that a person may do',
      /key of its own/,
      (stage) =>
        drivers(stage, ({ plan }) => ({
          plan: async (tx, ask, signal) => ({ ...(await plan(tx, ask, signal)), key: ask.user.id }),
        })),
    ],
  ),
  ...of('a plan tells what was there before us', [
    'nothing was ever there',
    /deep-equal/,
    (stage) =>
      drivers(stage, ({ plan }) => ({ plan: async (...asked) => ({ ...(await plan(...asked)), held: false }) })),
  ]),
  ...of('who or what the target does not know is refused for good, in words', [
    'it plans for anybody',
    /rejection/,
    (stage) => ({
      ...stage,
      unknown: {
        grant_id: newId(),
        user: { id: newId(), email: 'nobody@example.com', name: 'Nobody', external_id: null },
        resource: { type: 'cloud_account', id: '000000000009' },
        account_id: null,
        permission_set: null,
        action: 'ReadOnly',
        duration_seconds: 3_600,
        audit_session: false,
      },
    }),
  ]),
]

/** Acts of which each is counted: as many ends as there were grants. */
function counting(stage: Stage): Stage {
  const counts = new Map<string, number>()
  const count = ({ key }: Target, by: number) => {
    const now = Math.max((counts.get(String(key)) ?? 0) + by, 0)
    counts.set(String(key), now)
    return now
  }
  return drivers(stage, ({ grant, revoke }) => ({
    grant: (tx, target, until, signal) => {
      count(target, 1)
      return grant(tx, target, until, signal)
    },
    revoke: (tx, target, signal) => (count(target, -1) > 0 ? done() : revoke(tx, target, signal)),
  }))
}

export const wrongActs = [
  ...of(
    'what is given is held, and what is taken away is gone with all that it was made of',
    ['it only says that it gives', /itself holds it/, (stage) => drivers(stage, () => ({ grant: done }))],
    ['it only says that it takes away', /itself does not hold it/, (stage) => drivers(stage, () => ({ revoke: done }))],
    [
      'it leaves something behind',
      /left behind/,
      (stage) =>
        drivers(stage, ({ revoke, grant, poll }) => ({
          async revoke(tx, target, signal) {
            const remains = { key: `${String(target.key)} remains` }
            const begun = await grant(tx, remains, new Date(0), signal)
            if (!begun.done) await poll(tx, remains, begun.reference, signal)
            return revoke(tx, target, signal)
          },
        })),
    ],
  ),
  ...of('giving twice is one: taken away once it is gone', [
    'it must be taken away as often as it was given',
    /does not hold it/,
    counting,
  ]),
  ...of('taking away twice succeeds, and what was never there too', [
    'what is not there cannot be taken away',
    /not to be done/,
    (stage) =>
      drivers(stage, ({ verify, revoke }) => ({
        revoke: async (tx, target, signal) =>
          (await verify(tx, target, null, signal)) === 'absent' ? refuse() : revoke(tx, target, signal),
      })),
  ]),
  ...of('taking one away leaves every other: of somebody else, of the same person, of strangers', [
    'it clears the whole target',
    /itself holds it|not touched/,
    (stage) =>
      drivers(stage, ({ revoke, discover, poll }) => ({
        async revoke(tx, target, signal) {
          for await (const page of discover?.(tx, [], signal) ?? [])
            for (const one of page) {
              const begun = await revoke(tx, one.target, signal)
              if (!begun.done) await poll(tx, one.target, begun.reference, signal)
            }
          return revoke(tx, target, signal)
        },
      })),
  ]),
  ...of('an act that one process began another brings to its end, by its reference', [
    'it remembers its acts in memory',
    /not to be done/,
    (stage) =>
      drivers(stage, ({ grant, poll }) => {
        const mine = new Set<string>()
        return {
          async grant(...asked) {
            const begun = await grant(...asked)
            if (!begun.done) mine.add(begun.reference)
            return begun
          },
          poll: (tx, target, reference, signal) =>
            mine.has(reference) ? poll(tx, target, reference, signal) : refuse(),
        }
      }),
  ]),
  ...of('the pause before a poll is a time that can be waited', [
    'it doubles for ever',
    /ms after/,
    (stage) => drivers(stage, () => ({ pollAfterMs: (polls) => 1_000 * 2 ** polls })),
  ]),
  ...of('a poll that comes late does nothing again, and one of an unknown act neither', [
    'each poll of a grant gives',
    /deep-equal/,
    (stage) =>
      drivers(stage, ({ grant, poll }) => ({
        async poll(tx, target, reference, signal) {
          const progress = await poll(tx, target, reference, signal).catch(() => ({ done: true }) as const)
          const begun = await grant(tx, target, new Date(0), signal)
          if (!begun.done) await poll(tx, target, begun.reference, signal)
          return progress
        },
      })),
  ]),
  ...of('a look tells what the target holds now, whoever changed it, and acts mend it', [
    'it tells what it did last',
    /a look says/,
    (stage) => {
      const last = new Map<unknown, 'held' | 'absent'>()
      return drivers(stage, ({ grant, revoke }) => ({
        grant: (tx, target, until, signal) => {
          last.set(target.key, 'held')
          return grant(tx, target, until, signal)
        },
        revoke: (tx, target, signal) => {
          last.set(target.key, 'absent')
          return revoke(tx, target, signal)
        },
        verify: (_tx, target) => Promise.resolve(last.get(target.key) ?? 'absent'),
      }))
    },
  ]),
  ...of('what is held longer than it was given for is held, or said to end early and given once more', [
    'it says too little of its end',
    /ends_early/,
    (stage) => ({ ...stage, endsByItself: true }),
  ]),
  ...of(
    'a list holds what is held, and nothing that is not',
    ['it lists nothing', /is listed/, (stage) => drivers(stage, () => ({ async *discover() {} }))],
    [
      'it lists what was',
      /does not find it/,
      (stage) =>
        drivers(stage, () => ({
          async *discover(_tx, known) {
            yield known
          },
        })),
    ],
  ),
]
