import { setImmediate as turn } from 'node:timers/promises'
import { textField } from '../../src/kernel/shown-field.ts'
import type { Driver, Target } from '../../src/provisioners/driver.ts'
import { done, drivers, of, refuse, typed, type Wrong } from './broken-drivers.ts'
import type { Stage } from './stage.ts'

/** A target that begins to fail on demand. */
function failing(stage: Stage, change: (driver: Driver, isBroken: () => boolean) => Partial<Driver>): Stage {
  let broken = false
  const begin = () => {
    broken = true
    return Promise.resolve(() => {
      broken = false
      return Promise.resolve()
    })
  }
  const breaks = [{ name: 'it fails on demand', begin, healthSees: false }]
  return { ...drivers(stage, (driver) => change(driver, () => broken)), breaks, secrets: ['s3cret'] }
}

/** A driver with a callback before each act: it receives the number of acts in progress, and whether one was aborted. */
function minding(stage: Stage, mayBegin: (underWay: number, wasCutOff: boolean) => boolean): Stage {
  let underWay = 0
  let wasCutOff = false
  const minded = async <Answer>(signal: AbortSignal, act: () => Promise<Answer>): Promise<Answer> => {
    if (!mayBegin(underWay, wasCutOff)) return refuse()
    underWay += 1
    try {
      await turn()
      return await act()
    } finally {
      underWay -= 1
      wasCutOff ||= signal.aborted
    }
  }
  return drivers(stage, ({ grant, revoke }) => ({
    grant: (tx, target, until, signal) => minded(signal, () => grant(tx, target, until, signal)),
    revoke: (tx, target, signal) => minded(signal, () => revoke(tx, target, signal)),
  }))
}

const oneAtATime: Wrong['on'] = (stage) => minding(stage, (underWay) => underWay === 0)

export const wrongInTrouble = [
  ...of('an aborted call ends, and can be repeated', [
    'an aborted act stays locked',
    /not to be done/,
    (stage) => minding(stage, (_underWay, wasCutOff) => !wasCutOff),
  ]),
  ...of('concurrent grants make one, and one revoke ends it', ['one at a time', /not to be done/, oneAtATime]),
  ...of('concurrent revokes all succeed', ['one at a time', /not to be done/, oneAtATime]),
  ...of('of a concurrent grant and revoke either may win, and the next act decides', [
    'the first act decides permanently',
    /itself holds it|not hold it/,
    (stage) => {
      const first = new Set<unknown>()
      const once = <Answer>({ key }: Target, act: () => Promise<Answer>) => {
        if (first.has(key)) return done()
        first.add(key)
        return act()
      }
      return drivers(stage, ({ grant, revoke }) => ({
        grant: (tx, target, until, signal) => once(target, () => grant(tx, target, until, signal)),
        revoke: (tx, target, signal) => once(target, () => revoke(tx, target, signal)),
      }))
    },
  ]),
  ...of('concurrent acts for several users do not affect each other', [
    'it gives to the last caller',
    /itself holds it|not hold it/,
    (stage) => {
      let last: Target = {}
      return drivers(stage, ({ grant }) => ({
        async grant(tx, target, until, signal) {
          last = target
          await turn()
          return grant(tx, last, until, signal)
        },
      }))
    },
  ]),
  ...of('a driver closes while calls are in progress, and another driver continues', [
    'closing one closes all',
    /not to be done/,
    (stage) => {
      let closed = false
      return drivers(stage, ({ grant }) => ({
        grant: (...args) => (closed ? refuse() : grant(...args)),
        close: () => {
          closed = true
          return Promise.resolve()
        },
      }))
    },
  ]),
  ...of('a health check finds a healthy target healthy, and changes nothing', [
    'it is never healthy',
    /deep-equal/,
    (stage) =>
      drivers(stage, () => ({ health: () => Promise.resolve([{ what: 'it', ok: false, message: 'is not well' }]) })),
  ]),
  ...of(
    'a failing target is reported with a message, without secrets and without false results',
    ['no fault is reported', /no call reports/, (stage) => failing(stage, () => ({}))],
    [
      'unreachable access counts as absent',
      /as holding nothing/,
      (stage) =>
        failing(stage, ({ verify }, isBroken) => ({
          verify: (...args) => (isBroken() ? Promise.resolve('absent') : verify(...args)),
        })),
    ],
    [
      'it reports a grant that fails',
      /is held/,
      (stage) =>
        failing(stage, ({ grant }, isBroken) => ({
          grant: (...args) => (isBroken() ? done() : grant(...args)),
        })),
    ],
    [
      'it reports a revoke that fails',
      /is gone/,
      (stage) =>
        failing(stage, ({ revoke }, isBroken) => ({
          revoke: (...args) => (isBroken() ? done() : revoke(...args)),
        })),
    ],
    [
      'it throws an error of the library',
      /only TargetError/,
      (stage) =>
        failing(stage, ({ verify }, isBroken) => ({
          verify: (...args) => (isBroken() ? Promise.reject(new Error('ECONNREFUSED')) : verify(...args)),
        })),
    ],
    [
      'it shows the password',
      /no secret/,
      (stage) =>
        failing(stage, ({ verify }, isBroken) => ({
          verify: (...args) => (isBroken() ? refuse('the password `s3cret` is wrong') : verify(...args)),
        })),
    ],
    [
      'its message is a code',
      /in words/,
      (stage) =>
        failing(stage, ({ verify }, isBroken) => ({
          verify: (...args) => (isBroken() ? refuse('0x80004005') : verify(...args)),
        })),
    ],
    [
      'its health check always passes',
      /its health check fails/,
      (stage) => {
        const stageWithBreaks = failing(stage, ({ verify }, isBroken) => ({
          verify: (...args) => (isBroken() ? refuse() : verify(...args)),
        }))
        return { ...stageWithBreaks, breaks: stageWithBreaks.breaks.map((broken) => ({ ...broken, healthSees: true })) }
      },
    ],
  ),
]

const configured = (stage: Stage): Stage => ({ ...stage, opening: { ...stage.opening, config: { token: 's3cret' } } })

export const wrongConfigs = [
  ...of('a valid config has no faults', ['it accepts no config', /deep-equal/, configured]),
  ...of(
    'an unknown field and an invalid value are pointed at',
    ['it accepts every field', /deep-equal/, (stage) => typed(stage, { findFaults: () => Promise.resolve([]) })],
    [
      'it accepts every value',
      /may not be/,
      (stage) =>
        typed(configured(stage), {
          findFaults: (config) =>
            Promise.resolve(
              'no_such_field' in config ? [{ pointer: '/config/no_such_field', why: 'is not known' }] : [],
            ),
        }),
    ],
  ),
  ...of('no secret is among the shown fields', [
    'its token is an ordinary text field',
    /would be shown/,
    (stage) => ({ ...typed(configured(stage), { shownFields: { token: textField } }), secrets: ['s3cret'] }),
  ]),
  ...of('generated secrets are unguessable, and different each time', [
    'it makes the same secret each time',
    /unequal|not/,
    (stage) => typed(stage, { makeSecrets: () => ({ token: 'the same long text for everybody' }) }),
  ]),
]
