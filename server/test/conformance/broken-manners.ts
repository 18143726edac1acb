import { setImmediate as turn } from 'node:timers/promises'
import { textField } from '../../src/kernel/shown-field.ts'
import type { Driver, Target } from '../../src/provisioners/driver.ts'
import { done, drivers, of, refuse, typed, type Wrong } from './broken-drivers.ts'
import type { Stage } from './stage.ts'

/** A target that begins to fail when it is told to. */
function failing(stage: Stage, change: (driver: Driver, isBroken: () => boolean) => Partial<Driver>): Stage {
  let broken = false
  const begin = () => {
    broken = true
    return Promise.resolve(() => {
      broken = false
      return Promise.resolve()
    })
  }
  const breaks = [{ name: 'it is told to fail', begin, healthSees: false }]
  return { ...drivers(stage, (driver) => change(driver, () => broken)), breaks, secrets: ['s3cret'] }
}

/** A driver that has a say before each act: how many are under way at this moment, and whether one was cut off. */
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
  ...of('a call that is cut off ends, and can be made again', [
    'what was cut off stays locked',
    /not to be done/,
    (stage) => minding(stage, (_underWay, wasCutOff) => !wasCutOff),
  ]),
  ...of('grant ‖ grant is one, and one end takes it away', ['one at a time', /not to be done/, oneAtATime]),
  ...of('revoke ‖ revoke both succeed', ['one at a time', /not to be done/, oneAtATime]),
  ...of('grant ‖ revoke: either may win, and the act that comes after decides', [
    'the first act decides for ever',
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
  ...of('many at once do not disturb one another', [
    'it gives to whoever asked last',
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
  ...of('a driver closes while calls are under way, and another goes on', [
    'one that closes closes all',
    /not to be done/,
    (stage) => {
      let closed = false
      return drivers(stage, ({ grant }) => ({
        grant: (...asked) => (closed ? refuse() : grant(...asked)),
        close: () => {
          closed = true
          return Promise.resolve()
        },
      }))
    },
  ]),
  ...of('a sound target is found sound, by a look that changes nothing', [
    'it is never well',
    /deep-equal/,
    (stage) =>
      drivers(stage, () => ({ health: () => Promise.resolve([{ what: 'it', ok: false, message: 'is not well' }]) })),
  ]),
  ...of(
    'a target that fails is told of in words, without secrets, and nothing is said of it that is not so',
    ['nobody hears of it', /no call tells/, (stage) => failing(stage, () => ({}))],
    [
      'what it cannot see is not there',
      /nothing is held/,
      (stage) =>
        failing(stage, ({ verify }, isBroken) => ({
          verify: (...asked) => (isBroken() ? Promise.resolve('absent') : verify(...asked)),
        })),
    ],
    [
      'it says that it gives, and cannot',
      /is held/,
      (stage) =>
        failing(stage, ({ grant }, isBroken) => ({
          grant: (...asked) => (isBroken() ? done() : grant(...asked)),
        })),
    ],
    [
      'it says that it takes away, and cannot',
      /is gone/,
      (stage) =>
        failing(stage, ({ revoke }, isBroken) => ({
          revoke: (...asked) => (isBroken() ? done() : revoke(...asked)),
        })),
    ],
    [
      'an error of the library comes through',
      /only TargetError/,
      (stage) =>
        failing(stage, ({ verify }, isBroken) => ({
          verify: (...asked) => (isBroken() ? Promise.reject(new Error('ECONNREFUSED')) : verify(...asked)),
        })),
    ],
    [
      'it shows the password',
      /no secret/,
      (stage) =>
        failing(stage, ({ verify }, isBroken) => ({
          verify: (...asked) => (isBroken() ? refuse('the password `s3cret` is wrong') : verify(...asked)),
        })),
    ],
    [
      'it speaks in codes',
      /in words/,
      (stage) =>
        failing(stage, ({ verify }, isBroken) => ({
          verify: (...asked) => (isBroken() ? refuse('0x80004005') : verify(...asked)),
        })),
    ],
    [
      'it looks well to whoever asks',
      /its health says so/,
      (stage) => {
        const told = failing(stage, ({ verify }, isBroken) => ({
          verify: (...asked) => (isBroken() ? refuse() : verify(...asked)),
        }))
        return { ...told, breaks: told.breaks.map((broken) => ({ ...broken, healthSees: true })) }
      },
    ],
  ),
]

const configured = (stage: Stage): Stage => ({ ...stage, opening: { ...stage.opening, config: { token: 's3cret' } } })

export const wrongConfigs = [
  ...of('a sound config has no faults', ['it takes none', /deep-equal/, configured]),
  ...of(
    'a field that is not known, and a value that is none, are pointed at',
    ['it takes anything', /deep-equal/, (stage) => typed(stage, { findFaults: () => Promise.resolve([]) })],
    [
      'it takes any value',
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
  ...of('secrets are never among what is shown', [
    'its token is text like any other',
    /would be shown/,
    (stage) => ({ ...typed(configured(stage), { shownFields: { token: textField } }), secrets: ['s3cret'] }),
  ]),
  ...of('what we make is secret, and another each time', [
    'it makes the same for everybody',
    /unequal|not/,
    (stage) => typed(stage, { makeSecrets: () => ({ token: 'the same long text for everybody' }) }),
  ]),
]
