import type { ProvisionerType } from '../../src/provisioners/provisioner.ts'
import type { InjectedFaults } from '../support/sandbox-faults.ts'
import { openAwsField } from './aws-field.ts'
import type { roads } from './company.ts'
import type { CrashPoint } from './crash-points.ts'
import type { Look } from './given-word.ts'
import { openPostgresqlField } from './postgresql-field.ts'
import { openSandboxField } from './sandbox-field.ts'
import { openWebhookField } from './webhook-field.ts'

/** What a service does at its target. */
export type TargetCall = 'create' | 'delete' | 'poll' | 'look'

/** Somewhere that access may be asked for. */
export type Place = { resource: { type: string; id: string }; action: string }
export type Road = keyof typeof roads

/** What a company's provisioner is set up with; `secrets`: what it is answered once, which the target is to know. */
export type Furnished = { body: Record<string, unknown>; adopt(secrets: Readonly<Record<string, string>>): void }

/** The target of a field's service, in this process: it outlives the service's death, and says itself what it holds. */
export type FieldTarget = {
  type: ProvisionerType
  /** What a service needs to reach it. */
  env: Record<string, string>
  /** A way there for one more company; undefined: it needs no provisioner. */
  furnish(): Promise<Furnished | undefined>
  /** Somebody new is known there. */
  welcome(email: string): Promise<void>
  /** A place that nobody has asked for yet, or hardly anybody. */
  place(road: Road): Place
  /** All the actions that places of a road have. */
  actionsOf(road: Road): readonly string[]
  /** A permission set that can be asked for on several accounts; undefined: there is no such thing. */
  setOnAccounts: string | undefined
  /** What it holds, each by the ledger's name of it. */
  holds(): Promise<string[]>
  /**
   * Strikes at each such call until `pass`, while `isStruck` says so: what is met `before` has no effect, what is met `after`
   * has, and neither is answered.
   */
  meet(call: TargetCall, moment: 'before' | 'after', isStruck: () => boolean): void
  pass(): void
  /** Faults that it can have, each of a kill's length. */
  injectable: readonly InjectedFaults[]
  /** Has it meet these and no others: a company's at the sandbox, everybody's elsewhere. */
  inject(faults: InjectedFaults, tenant_id: string): Promise<void>
  close(): Promise<void>
}

/** A field's target of that type, and the field's own hand on the database, where the sandbox is. */
export function openFieldTarget(type: ProvisionerType, look: Look): Promise<FieldTarget> {
  const open: Record<ProvisionerType, () => Promise<FieldTarget>> = {
    sandbox: async () => openSandboxField(look),
    postgresql: openPostgresqlField,
    'aws-identity-center': openAwsField,
    webhook: openWebhookField,
  }
  return open[type]()
}

/** The calls that a target tells of by itself. The sandbox tells of none: what is done there are statements. */
const callsOf: Record<ProvisionerType, readonly TargetCall[]> = {
  sandbox: [],
  postgresql: ['create', 'delete', 'look'],
  'aws-identity-center': ['create', 'delete', 'poll', 'look'],
  webhook: ['create', 'delete', 'poll', 'look'],
}

/** The call at the target that a point is met at there; undefined: it is met at the database. */
export function callOf(type: ProvisionerType, { call }: CrashPoint): TargetCall | undefined {
  return type === 'sandbox' ? undefined : call
}

/** Whether work with a target of that type comes to the point at all. */
export function comesTo(type: ProvisionerType, point: CrashPoint): boolean {
  const calls = callsOf[type]
  const call = point.isOfPolls === true ? 'poll' : point.call
  return type === 'sandbox' || call === undefined || calls.includes(call)
}
