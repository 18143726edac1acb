import type { Egress, Tx } from '../kernel/context.ts'
import type { FaultyField } from '../kernel/errors.ts'
import type { ShownFields } from '../kernel/shown-field.ts'

/** Whom access is for and what was approved: all that a plan may be made from. */
export type GrantAsk = {
  grant_id: string
  /** `external_id`: what the identity provider calls them; null for whoever signs in with a password. */
  user: { id: string; email: string; name: string; external_id: string | null }
  resource: { type: string; id: string }
  /** The account that the resource lies in; null where nobody knows. */
  account_id: string | null
  /** The permission set to give on the account; null where the action names what is given. */
  permission_set: string | null
  action: string
  duration_seconds: number
  /** Its sessions are to be recorded: the target marks them where it can. */
  audit_session: boolean
}

/** Whatever a driver needs to act again later; kept as JSON, so nothing secret. */
export type Target = Record<string, unknown>

/** What the target should hold, in its own terms. */
export type Plan = {
  /**
   * The target's own identity of it, server and all: two grants with one key are one entitlement, by whichever
   * provisioner of a type they come.
   */
  key: string
  target: Target
  /** It is there already, before any act of ours. */
  held: boolean
  /** How long a session that was issued at the last moment lives on after the end, in seconds; null: nobody knows. */
  session_seconds: number | null
  /** Under which name the target's own log has what is done with it, as far as that is known: `…*` where it goes on. */
  recorded_as?: string
}

/** How an act ended, or is going. `reference`: the target's own name for it, to ask with and to show. */
export type Progress = { done: true; reference?: string } | { done: false; reference: string }

/** Whether the target holds it; `ends_early`: it does, and will drop it of itself before it should. */
export type Held = 'held' | 'ends_early' | 'absent'

/** Something that the target holds, as a sweep finds it. */
export type Sighting = Pick<Plan, 'key' | 'target'>

/** One thing that was looked at, for whoever sets a provisioner up: `what` names it, `message` says how to mend it. */
export type Check = { what: string; ok: boolean; message: string | null }

/**
 * One tenant's way to a target. Each function is idempotent and can be resumed by name: granting twice is one entitlement;
 * revoking twice, or what was never there, succeeds. Failures are thrown as `TargetError`, and as `NotNow` where nothing
 * failed and the target's own pace says to come back. `signal`: the caller waits no longer; what was begun may still land.
 */
export type Driver = {
  /** Resolves who and what, changes nothing. */
  plan(tx: Tx, ask: GrantAsk, signal: AbortSignal): Promise<Plan>
  /** Gives it. `until`: when it is to end as of now, at the latest; what the target can end of itself ends then. */
  grant(tx: Tx, target: Target, until: Date, signal: AbortSignal): Promise<Progress>
  /** Takes it away, sessions that were issued too where the target can. */
  revoke(tx: Tx, target: Target, signal: AbortSignal): Promise<Progress>
  /** How an act that was begun is going; takes the steps that come after it. */
  poll(tx: Tx, target: Target, reference: string, signal: AbortSignal): Promise<Progress>
  /** What the target holds now, read from the target itself. `until`: null where nothing should be held. */
  verify(tx: Tx, target: Target, until: Date | null, signal: AbortSignal): Promise<Held>
  /**
   * Pages of what the target holds: of all that is `known`, and whatever else bears this tenant's mark. Null: it cannot list,
   * and each is verified by itself.
   */
  discover: ((tx: Tx, known: readonly Sighting[], signal: AbortSignal) => AsyncIterable<readonly Sighting[]>) | null
  /** Looks at everything that giving access needs, and changes nothing. */
  health(tx: Tx, signal: AbortSignal): Promise<Check[]>
  /** Milliseconds until the next poll, after so many. */
  pollAfterMs(polls: number): number
  /** Lets go of connections; calls under way may fail. */
  close(): Promise<void>
}

export type Config = Readonly<Record<string, unknown>>

/** What a driver is opened with: a config that `findFaults` found nothing in, its secrets opened. */
export type Opening = {
  tenant_id: string
  provisioner_id: string
  config: Config
  /** Secrets that we had made, by name, which were rotated less than a day ago: they count beside those of the config. */
  previous: Readonly<Record<string, string>>
  egress: Egress
  /** Where the service is reached from outside. */
  public_url: string
}

/** What there is to know of a type of provisioner before one is opened. */
export type DriverType = {
  /** The fields of the config that answers show; every other is a secret. */
  shownFields: ShownFields
  /** The fields of the config that say which target it is: they stay while access is there that was given through them. */
  targetFields: readonly string[]
  /** Every fault of a config, its secrets opened, those that we made as well: pointers below `/config`. */
  findFaults(config: Config, egress: Egress): Promise<FaultyField[]>
  /**
   * Secrets that we make, by the name of their field in the config, when one is created and anew at each rotation; answered
   * then and never again, and never set by a caller.
   */
  makeSecrets(): Record<string, string>
  /** Cheap: connects to nothing. */
  open(opening: Opening): Driver
}

/** What a target answered instead of doing it: `transient` may pass by itself, `permanent` will not. */
export class TargetError extends Error {
  readonly kind: 'transient' | 'permanent'

  constructor(kind: 'transient' | 'permanent', message: string) {
    // Of what a target says, no database keeps a NUL or half a character.
    super(message.replaceAll('\0', '').toWellFormed())
    this.name = 'TargetError'
    this.kind = kind
  }
}

/** Nothing was begun and nothing failed: the target's own pace has no room for it before `after_ms`. */
export class NotNow extends Error {
  readonly after_ms: number

  constructor(after_ms: number) {
    super(`there is no room for it before ${after_ms} ms`)
    this.name = 'NotNow'
    this.after_ms = after_ms
  }
}
