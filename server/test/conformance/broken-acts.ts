import { newId } from '../../src/kernel/id.ts'
import { type Connect, connectOf } from '../../src/provisioners/connect.ts'
import type { Target } from '../../src/provisioners/driver.ts'
import { done, drivers, of, refuse } from './broken-drivers.ts'
import type { Stage } from './stage.ts'

/** A driver that says something else about how to connect. */
const connecting = (stage: Stage, change: () => Partial<Connect>): Stage =>
  drivers(stage, ({ plan }) => ({
    async plan(...args) {
      const planned = await plan(...args)
      const connect = planned.connect ?? connectOf({ kind: 'sandbox', summary: '' })
      return { ...planned, connect: { ...connect, ...change() } }
    },
  }))

export const wrongPlans = [
  ...of(
    'a plan changes nothing, and is the same on every call and in every process',
    [
      'it gives what it plans',
      /deep-equal/,
      (stage) =>
        drivers(stage, ({ plan }) => ({
          async plan(tx, input, signal) {
            const planned = await plan(tx, input, signal)
            await stage.target.give(input).catch(() => undefined)
            return planned
          },
        })),
    ],
    [
      'another key each time',
      /deep-equal/,
      (stage) =>
        drivers(stage, ({ plan }) => ({ plan: async (...args) => ({ ...(await plan(...args)), key: newId() }) })),
    ],
    [
      'its target is more than JSON',
      /JSON/,
      (stage) =>
        drivers(stage, ({ plan }) => ({
          plan: async (...args) => ({ ...(await plan(...args)), target: { at: new Date(0) } }),
        })),
    ],
  ),
  ...of(
    'a plan says how the holder connects, or that it is not known: the same each time, bounded, and without a secret',
    [
      'it shows the password',
      /no secret/,
      (stage) => ({ ...connecting(stage, () => ({ summary: 'the password is s3cret' })), secrets: ['s3cret'] }),
    ],
    ['it is different each time', /the same each time/, (stage) => connecting(stage, () => ({ summary: newId() }))],
    [
      'it has no bound',
      /form of the schema|bounded/,
      (stage) => connecting(stage, () => ({ fields: Array(20).fill({ label: 'x', value: '☃'.repeat(500) }) })),
    ],
    [
      'it has another form',
      /form of the schema/,
      (stage) => connecting(stage, () => ({ commands: ['psql'] as never })),
    ],
    [
      'it links to a script',
      /https link/,
      (stage) => connecting(stage, () => ({ links: [{ label: 'x', url: 'javascript:x' }] })),
    ],
    [
      'its command has two lines',
      /plain text/,
      (stage) => connecting(stage, () => ({ commands: [{ label: 'x', text: 'a\nb' }] })),
    ],
  ),
  ...of(
    'a plan names the entitlement: grants of the same access share its key, other access has another key',
    [
      'each grant has its own key',
      /equal/,
      (stage) =>
        drivers(stage, ({ plan }) => ({
          plan: async (tx, input, signal) => ({ ...(await plan(tx, input, signal)), key: input.grant_id }),
        })),
    ],
    [
      'a user has one key for all access',
      /its own key/,
      (stage) =>
        drivers(stage, ({ plan }) => ({
          plan: async (tx, input, signal) => ({ ...(await plan(tx, input, signal)), key: input.user.id }),
        })),
    ],
  ),
  ...of('a plan reports access that existed before the grant', [
    'it never reports earlier access',
    /deep-equal/,
    (stage) => drivers(stage, ({ plan }) => ({ plan: async (...args) => ({ ...(await plan(...args)), held: false }) })),
  ]),
  ...of('an unknown user or resource is refused permanently, with a message', [
    'it plans for any user',
    /rejection/,
    (stage) => ({
      ...stage,
      unknown: {
        grant_id: newId(),
        first_grant_id: newId(),
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

/** A driver that counts its acts: access ends after as many revokes as grants. */
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
    'access is held after a grant, and after a revoke it is gone with everything that it was made of',
    ['it only reports that it gives', /itself holds it/, (stage) => drivers(stage, () => ({ grant: done }))],
    ['it only reports that it revokes', /itself does not hold it/, (stage) => drivers(stage, () => ({ revoke: done }))],
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
  ...of('a second grant changes nothing: one revoke ends both', [
    'it needs as many revokes as grants',
    /does not hold it/,
    counting,
  ]),
  ...of('a revoke succeeds twice, and also without a grant', [
    'absent access cannot be revoked',
    /not to be done/,
    (stage) =>
      drivers(stage, ({ verify, revoke }) => ({
        revoke: async (tx, target, signal) =>
          (await verify(tx, target, null, signal)) === 'absent' ? refuse() : revoke(tx, target, signal),
      })),
  ]),
  ...of('a revoke leaves all other access: of other users, of the same user, and given by hand', [
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
  ...of('another process can finish an act by its reference', [
    'it keeps its acts in memory',
    /not to be done/,
    (stage) =>
      drivers(stage, ({ grant, poll }) => {
        const mine = new Set<string>()
        return {
          async grant(...args) {
            const begun = await grant(...args)
            if (!begun.done) mine.add(begun.reference)
            return begun
          },
          poll: (tx, target, reference, signal) =>
            mine.has(reference) ? poll(tx, target, reference, signal) : refuse(),
        }
      }),
  ]),
  ...of('the pause before a poll is positive and at most a minute', [
    'it doubles without a limit',
    /ms after/,
    (stage) => drivers(stage, () => ({ pollAfterMs: (polls) => 1_000 * 2 ** polls })),
  ]),
  ...of('a late poll repeats nothing, and neither does a poll of an unknown act', [
    'each poll of a grant grants again',
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
  ...of('verify reports the current access, also after changes by hand, and acts correct it', [
    'it reports its last act',
    /verify returns/,
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
  ...of('access that must last longer is reported as held, or as ending early, and a further grant extends it', [
    'it does not report its early end',
    /ends_early/,
    (stage) => ({ ...stage, endsByItself: true }),
  ]),
  ...of(
    'discover lists all access that is held, and nothing else',
    ['it lists nothing', /is listed/, (stage) => drivers(stage, () => ({ async *discover() {} }))],
    [
      'it lists revoked access',
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
