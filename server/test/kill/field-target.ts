import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import type { InjectedFaults } from '../support/sandbox-faults.ts'
import type { Query } from './acknowledged.ts'
import { openAwsField } from './aws-field.ts'
import type { actionsByMode } from './company.ts'
import type { CrashPoint } from './crash-points.ts'
import { openPostgresqlField } from './postgresql-field.ts'
import { openSandboxField } from './sandbox-field.ts'
import { openWebhookField } from './webhook-field.ts'

/** A call that a service makes at its target. */
export type TargetCall = 'create' | 'delete' | 'poll' | 'verify'

/** A resource and action that a user may request. */
export type Place = { resource: { type: string; id: string }; action: string }
export type ApprovalMode = keyof typeof actionsByMode

/** The setup of a company's provisioner; `secrets`: shown once in the service's answer, and passed on to the target. */
export type Furnished = { body: Record<string, unknown>; adopt(secrets: Readonly<Record<string, string>>): void }

/** The target of a field's service, in this process: it survives a kill of the service, and reports itself what it holds. */
export type FieldTarget = {
  type: ProvisionerType
  /** The environment that a service needs to reach it. */
  env: Record<string, string>
  /** Configuration for one more company; undefined: it needs no provisioner. */
  furnish(): Promise<Furnished | undefined>
  /** Makes a new user known there. */
  welcome(email: string): Promise<void>
  /** A place that has never or rarely been requested. */
  place(mode: ApprovalMode): Place
  /** All actions of the places for an approval mode. */
  actionsOf(mode: ApprovalMode): readonly string[]
  /** A permission set that can be requested on several accounts; undefined: the target has none. */
  setOnAccounts: string | undefined
  /** The keys, in the ledger's form, of everything that it holds. */
  holds(): Promise<string[]>
  /**
   * Interrupts each such call until `pass`, if `isStruck` returns true: a call interrupted `before` has no effect, one
   * interrupted `after` has one, and neither is answered.
   */
  meet(call: TargetCall, moment: 'before' | 'after', isStruck: () => boolean): void
  pass(): void
  /** With faults injected, it can plan no access either. */
  failsPlans: boolean
  /** Faults to inject, each for the time of one kill. */
  injectable: readonly InjectedFaults[]
  /** Injects these faults and no others: for one company at the sandbox, for all elsewhere. */
  inject(faults: InjectedFaults, tenant_id: string): Promise<void>
  close(): Promise<void>
}

/** Opens the target of that type; `query` is the field's database access, which the sandbox uses. */
export function openFieldTarget(type: ProvisionerType, query: Query): Promise<FieldTarget> {
  const open: Record<ProvisionerType, () => Promise<FieldTarget>> = {
    sandbox: async () => openSandboxField(query),
    postgresql: openPostgresqlField,
    'aws-identity-center': openAwsField,
    webhook: openWebhookField,
  }
  return open[type]()
}

/** The calls that a target can interrupt. The sandbox has none: its acts are statements. */
const callsOf: Record<ProvisionerType, readonly TargetCall[]> = {
  sandbox: [],
  postgresql: ['create', 'delete', 'verify'],
  'aws-identity-center': ['create', 'delete', 'poll', 'verify'],
  webhook: ['create', 'delete', 'poll', 'verify'],
}

/** The target's call at which a point is reached; undefined: it is reached at the database. */
export function callOf(type: ProvisionerType, { call }: CrashPoint): TargetCall | undefined {
  return type === 'sandbox' ? undefined : call
}

/** Whether work with a target of that type reaches the point at all. */
export function comesTo(type: ProvisionerType, point: CrashPoint): boolean {
  const calls = callsOf[type]
  const call = point.isOfPolls === true ? 'poll' : point.call
  return type === 'sandbox' || call === undefined || calls.includes(call)
}
