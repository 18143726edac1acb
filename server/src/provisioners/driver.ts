import type { Mark } from '../installation/installation.ts'
import type { SignedMark } from '../installation/mark.ts'
import type { Egress, Tx } from '../kernel/context.ts'
import type { FaultyField } from '../kernel/errors.ts'
import { storableText } from '../kernel/foreign-text.ts'
import type { ShownFields } from '../kernel/shown-field.ts'
import type { Connect } from './connect.ts'
import type { TargetClaims } from './target-claims.ts'
import type { ReadDirectory } from './target-directory.ts'
import type { InventoryPart, ReadInventory } from './target-inventory.ts'
import type { UserLookup } from './user-lookup.ts'

/** The holder of the access and what was approved: the whole input of a plan. */
export type PlanInput = {
  grant_id: string
  /** The grant whose time this one goes on from, at the beginning of all extensions; its own id where it extends none. */
  first_grant_id: string
  /** `external_id`: the user's id at the identity provider; null for a user who signs in with a password. */
  user: { id: string; email: string; name: string; external_id: string | null }
  resource: { type: string; id: string }
  /** The account of the resource; null when unknown. */
  account_id: string | null
  /** The permission set to give on the account; null when the action determines it. */
  permission_set: string | null
  action: string
  duration_seconds: number
  /** Whether its sessions must be recorded; the target marks them if it can. */
  audit_session: boolean
}

/**
 * The data that a driver needs for later acts; stored as JSON, so it contains no secrets. With `made: true`, Sallyport made what holds the
 * access, for this access alone: it is removed wherever no live grant wants it, also where a target's changes by hand are left. `login` is then
 * its name, which no other access has at any target.
 */
export type Target = Record<string, unknown>

/** What the target should hold, in its own terms. */
export type Plan = {
  /**
   * The entitlement's identity at the target, including the server: two grants with one key are one entitlement, even through
   * different provisioners of a type.
   */
  key: string
  target: Target
  /** The access exists already, before any act of Sallyport. */
  held: boolean
  /** How long a session issued at the last moment outlives the end, in seconds; null: unknown. */
  session_seconds: number | null
  /** The name in the target's own log for what the holder does, when known; `…*` for a prefix. */
  recorded_as?: string
  /** How the holder connects, without secrets; null: not known, or not yet. */
  connect: Connect | null
}

/** How a holder signs in. INVARIANT: the password is in no error, and nothing keeps it. */
export type Credentials = { user: string; password: string }

/** What the holder made at the target, and the end of the access leaves there: some of it, by kind and name, and how many in all. */
export type LeftBehind = { objects: readonly { kind: string; name: string }[]; total: number }

/**
 * The state of an act. `reference`: the target's name for the act, to poll with and to show. `connect`: what the target says with
 * it about how to connect, in place of what was known. `sessions`: with a revoke, what became of open sessions. `left_behind`: reported
 * before the act goes on, so that no crash loses it.
 */
export type Progress = ({ done: true; reference?: string } | { done: false; reference: string }) & {
  connect?: Connect
  sessions?: Sessions
  left_behind?: LeftBehind
}

/**
 * How long sessions that were issued before the end outlive it, in place of the plan's `session_seconds`. `note`: why they do; null
 * when there is nothing to explain.
 */
export type Sessions = { seconds: number | null; note: string | null }

/**
 * Whether the target holds the access. `ends_early`: it does, but will remove it by itself too early. `changed`: it does, but what Sallyport
 * made there for this access alone is not as Sallyport made it.
 */
export type Held = 'held' | 'ends_early' | 'changed' | 'absent'

/**
 * An entitlement of the ledger, as a sweep compares it. `given_until`: the end that the last act gave it; null or left out: not known.
 * `is_doubtful`: the target should not hold it, or not by us, so its mark is read.
 */
export type Known = Pick<Plan, 'key' | 'target'> & { given_until?: Date | null; is_doubtful?: boolean }

/**
 * An entitlement that a sweep found at the target. `origin`: it was given by this installation, as its mark proves; null or left out: that is
 * not proven, or it is known and should be there. `provisioner_id`: which provisioner its mark names, proven or not. `changed`: what Sallyport
 * made for it was changed.
 */
export type Sighting = Pick<Plan, 'key' | 'target'> & {
  origin?: Origin | null
  provisioner_id?: string
  changed?: true
}

/** Access by a permission set that Sallyport did not make. `exclusive`: the set is tagged as one that only Sallyport assigns. */
export type ForeignSighting = Pick<Plan, 'key' | 'target'> & { exclusive: boolean }

/** When access was given, and for which grant, as far as the target says. */
export type Origin = { epoch: number; grant_id: string | null }

/** Writes and reads the marks of a provisioner's access. */
export type Marks = {
  /** The installation and its epoch as of now. */
  now(): Promise<Mark>
  sign(access: { grant_id: string; key: string }): Promise<SignedMark>
  /** Null: it does not prove that this installation gave this access. */
  read(access: { grant_id: string; key: string }, mark: Partial<SignedMark>): Promise<Origin | null>
}

/** One check of a provisioner's test: `what` names the subject, `message` says how to fix it. */
export type Check = { what: string; ok: boolean; message: string | null }

/**
 * One tenant's connection to a target. Each function is idempotent and can be resumed by name: granting twice is one
 * entitlement; revoking twice, or revoking absent access, succeeds. Failures are thrown as `TargetError`. `NotNow` means that
 * nothing failed, and the target's rate limit requires a later retry. `signal`: the caller stops waiting; an act that was begun
 * may still have a late effect.
 */
export type Driver = {
  /** Resolves the user and the resource, and changes nothing. */
  plan(tx: Tx, input: PlanInput, signal: AbortSignal): Promise<Plan>
  /** Gives the access. `until`: its latest end as of now; a target that can end access by itself ends it then. */
  grant(tx: Tx, target: Target, until: Date, signal: AbortSignal): Promise<Progress>
  /** Removes the access, and issued sessions if the target can. */
  revoke(tx: Tx, target: Target, signal: AbortSignal): Promise<Progress>
  /** The state of an act that was begun; also takes its next steps. */
  poll(tx: Tx, target: Target, reference: string, signal: AbortSignal): Promise<Progress>
  /**
   * What the target holds now, read from the target itself. `until`: null when it should hold nothing. `given_until`: the end that the last act
   * gave it; null or left out: not known.
   */
  verify(tx: Tx, target: Target, until: Date | null, signal: AbortSignal, given_until?: Date | null): Promise<Held>
  /**
   * Pages of what the target holds: the `known` entitlements, and others with this tenant's mark. Null: the target cannot list,
   * and each entitlement is verified by itself.
   */
  discover: ((tx: Tx, known: readonly Known[], signal: AbortSignal) => AsyncIterable<readonly Sighting[]>) | null
  /**
   * Pages of what people hold at the target without a mark, as Sallyport could have given it: for a person to look at, once in an epoch. Left
   * out: all that Sallyport gives there has a mark.
   */
  discoverForeign?: (signal: AbortSignal) => AsyncIterable<readonly ForeignSighting[]>
  /** Set if every change of what the target holds makes its sweep due. While the target agrees with the ledger, its sweep rests. */
  wakesSweep?: boolean
  /**
   * Sets a new password for access that is held, and ends the one before. Null: its targets have no passwords of Sallyport.
   * @throws TargetError permanent, when the target does not hold the access
   */
  setPassword: ((target: Target, signal: AbortSignal) => Promise<Credentials>) | null
  /** Reads a part of what the target says of itself. Null: the type has no parts. */
  readInventory: ReadInventory | null
  /** Reads whom the target's directory has. Null: the type has no directory. */
  readDirectory: ReadDirectory | null
  /** Keeps a note at the target about who acts there. Null: the target has no place for one. */
  claims: TargetClaims | null
  /** Checks everything that giving access needs, and changes nothing. */
  health(tx: Tx, signal: AbortSignal): Promise<Check[]>
  /** Milliseconds until the next poll, by the number of polls so far. */
  pollAfterMs(polls: number): number
  /** Closes connections; calls in flight may fail. */
  close(): Promise<void>
}

export type Config = Readonly<Record<string, unknown>>

/** The input to open a driver: a config without faults by `findFaults`, with its secrets unsealed. */
export type Opening = {
  tenant_id: string
  provisioner_id: string
  config: Config
  /** Generated secrets, by name, from before a rotation less than a day ago: they are valid beside those of the config. */
  previous: Readonly<Record<string, string>>
  egress: Egress
  /** The public address of the service. */
  public_url: string
  /** Left out where nothing is given and nothing is swept. */
  marks?: Marks
}

/** A text that makes at the target what a provisioner needs. `apply`: the command that applies the file. */
export type Snippet = {
  kind: 'cloudformation' | 'terraform'
  file_name: string
  text: string
  apply: string[]
}

/**
 * What an administrator does at the target. `identity`: as which the target knows the service; null when it has none, and `note` says how to
 * give it one.
 */
export type Instructions = { identity: string | null; note: string | null; snippets: Snippet[] }

/** How a target is set up from as few answers as possible. */
export type SetUp = {
  /** The fields of the config that a test finds at the target. Nothing can be given before. */
  foundFields: readonly string[]
  /** Reads them. @throws TargetError */
  find(opening: Opening, signal: AbortSignal): Promise<Config>
  describe(opening: Opening, signal: AbortSignal): Promise<Instructions>
}

/** Since the start of the process: the calls that targets of a type throttled. `calls_per_second`: that of the slowest target now. */
export type TargetPace = { throttled: number; calls_per_second: number }

/** A type of provisioner. */
export type DriverType = {
  /** The fields of the config that replies show; every other field is a secret. */
  shownFields: ShownFields
  /** The fields of the config that identify the target: they cannot change while access given through them exists. */
  targetFields: readonly string[]
  /** Every fault of a config with its secrets unsealed, including generated ones. Pointers are below `/config`. */
  findFaults(config: Config, egress: Egress): Promise<FaultyField[]>
  /**
   * Makes the generated secrets, by the name of their field in the config: at creation and at each rotation. They are shown
   * only then, and a caller can never set them.
   */
  makeSecrets(): Record<string, string>
  /** The parts of the inventory that `readInventory` of its drivers reads. */
  inventoryParts: readonly InventoryPart[]
  /** Absent where the config has everything, and nothing is to be made at the target for it. */
  setUp?: SetUp
  /** By what its drivers find a user in the directory that they read; null: they read none. */
  userLookupOf: ((config: Config) => UserLookup) | null
  /** Present where targets throttle calls. */
  pace?(): TargetPace
  /** Cheap: makes no connection. */
  open(opening: Opening): Driver
}

/** A failure at the target: `transient` may pass by itself, `permanent` will not. */
export class TargetError extends Error {
  readonly kind: 'transient' | 'permanent'
  /** Nothing was begun at the target. */
  readonly unbegun: boolean

  constructor(kind: 'transient' | 'permanent', message: string, unbegun = false) {
    super(storableText(message))
    this.name = 'TargetError'
    this.kind = kind
    this.unbegun = unbegun
  }
}

/** The target refuses to keep a claim: it is used without one. */
export class NoPlaceForClaim extends TargetError {
  constructor(message: string) {
    super('permanent', message)
    this.name = 'NoPlaceForClaim'
  }
}

/**
 * Nothing was begun and nothing failed: the target's rate limit has no room before `after_ms`. `why`: what is shown to people who wait; null: the
 * wait is a usual one.
 */
export class NotNow extends Error {
  readonly after_ms: number
  readonly why: string | null

  constructor(after_ms: number, why: string | null = null) {
    super(why ?? `the target's rate limit has no room for this call; retry after ${after_ms} ms`)
    this.name = 'NotNow'
    this.after_ms = after_ms
    this.why = why === null ? null : storableText(why)
  }
}
