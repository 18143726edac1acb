import type { Schemas } from '@sallyport/client'
import { hasRole } from './checks.ts'

/** A provisioner that gives access in AWS. */
export type Connection = Schemas['Provisioner']

/** What is to be made at AWS, as it is shown once. */
export type SetUp = NonNullable<Schemas['ProvisionerWithSecrets']['set_up']>

export type Serves = Connection['serves']

/** The steps to a connection that gives access, in their order. */
export const steps = ['answers', 'role', 'test', 'sight', 'on'] as const
export type Step = (typeof steps)[number]

type Facts = Pick<Connection, 'config' | 'enabled' | 'serves' | 'health'>

/** Whether access is given through it. */
export const isOn = ({ enabled, serves }: Pick<Facts, 'enabled' | 'serves'>): boolean => enabled && serves.length > 0

/** Whether the test found the instance: what AWS holds is read from then on. */
export const isFound = ({ config }: Pick<Facts, 'config'>): boolean => typeof config.instance_arn === 'string'

/** What is next for a person to do; undefined where all is done. What AWS holds is read, and asks for nothing. */
export function nextStep(connection: Facts): Exclude<Step, 'answers' | 'sight'> | undefined {
  const { health } = connection
  if (isOn(connection)) return undefined
  if (health?.ok === true) return 'on'
  return health === null || !hasRole(health.checks) ? 'role' : 'test'
}

/** The steps that are done. */
export function doneSteps(connection: Facts): ReadonlySet<Step> {
  const { health } = connection
  const done = new Set<Step>(['answers'])
  if (health !== null && hasRole(health.checks)) done.add('role')
  if (health?.ok === true) done.add('test')
  if (isOn(connection)) done.add('on')
  return done
}

/** The account of the role, of 12 digits; empty where the config names none. */
export function accountOf({ config }: Pick<Facts, 'config'>): string {
  const { account_id, role_arn } = config
  if (typeof account_id === 'string') return account_id
  return typeof role_arn === 'string' ? (role_arn.split(':')[4] ?? '') : ''
}

export const regionOf = ({ config: { region } }: Pick<Facts, 'config'>): string =>
  typeof region === 'string' ? region : ''
