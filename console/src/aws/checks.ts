import type { Connection } from './connection.ts'

export type Check = NonNullable<Connection['health']>['checks'][number]

/** The seven checks of a test, in its order, as the service names them. */
const names = {
  identity: 'Sallyport’s own identity',
  role: 'the role',
  instance: 'the instance',
  store: 'the identity store',
  organization: 'the organization',
  sets: 'the permission sets',
  rights: 'giving and removing access',
} as const

export type CheckKind = keyof typeof names

export const checkKinds = Object.keys(names) as CheckKind[]

/** A line of the test. `kind`: undefined for a check that depends on the config, whose name the service gives. */
export type Line = {
  kind: CheckKind | undefined
  what: string
  state: 'ok' | 'failed' | 'pending'
  message: string | null
}

/** The lines of a test: the seven, also those that it did not reach, and then those that depend on the config. */
export function linesOf(checks: readonly Check[]): Line[] {
  const lineOf = (kind: CheckKind | undefined, { what, ok, message }: Check): Line => {
    return { kind, what, state: ok ? 'ok' : 'failed', message }
  }
  const usual = checkKinds.map((kind): Line => {
    const check = checks.find(({ what }) => what === names[kind])
    return check === undefined ? { kind, what: names[kind], state: 'pending', message: null } : lineOf(kind, check)
  })
  const known = new Set<string>(Object.values(names))
  return [...usual, ...checks.filter(({ what }) => !known.has(what)).map((check) => lineOf(undefined, check))]
}

/** Whether the test found that the role lets the service in. */
export const hasRole = (checks: readonly Check[]): boolean => checks.some(({ what, ok }) => what === names.role && ok)
