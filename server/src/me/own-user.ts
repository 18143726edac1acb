import { type Static, Type } from 'typebox'
import { DateTime, Nullable, OneOf, Uuid } from '../http/schema.ts'
import type { SignInSession } from '../kernel/context.ts'
import { maxPendingRequests } from '../requests/request.ts'
import { settleDuration } from '../requests/request-input.ts'
import { readSettingValues, type Settings } from '../settings/setting.ts'
import { type StoredFacts, shownFacts } from '../users/fact.ts'
import { Preferences } from '../users/preferences.ts'

/** Of the roles, and of the groups, of a user: so many are listed. */
export const maxListed = 200
/** Unread notifications are counted up to this number. */
export const maxUnread = 100

const cut = `at most ${maxListed}, by name: with ${maxListed} there may be more`
const preferenceFields = ['locale', 'timezone', 'date_format', 'time_format'] as const

const EffectivePreferences = Type.Object(
  {
    locale: Type.String({ description: 'a language tag as in BCP 47' }),
    timezone: Type.String({
      description:
        'an IANA name. A client that detects the zone of its device uses that one, unless `chosen` has `timezone`',
    }),
    date_format: Preferences.properties.date_format,
    time_format: Preferences.properties.time_format,
    chosen: Type.Array(OneOf(preferenceFields), {
      description:
        'what the user has set; the others are the tenant’s settings `locale.default` and `timezone.default`, or null',
    }),
  },
  { title: 'EffectivePreferences' },
)

const Limits = Type.Object(
  {
    require_reason: Type.Boolean({ description: 'whether every request must give a reason' }),
    default_duration_seconds: Type.Integer({ description: 'how long access lasts when a request names no duration' }),
    max_duration_seconds: Type.Integer(),
    pending_ttl_seconds: Type.Integer({ description: 'how long a request waits for a decision before it expires' }),
    max_pending_requests: Type.Integer({ description: 'pending requests of one user' }),
  },
  { title: 'RequestLimits' },
)

const SignIn = Type.Object(
  {
    amr: Type.Array(Type.String(), {
      description: 'the means, as in RFC 8176; it has `mfa` where there were two factors',
    }),
    auth_time: DateTime,
    needs_second_factor: Type.Boolean({
      description:
        'whether the user must sign in with a second factor once the tenant is live; a live tenant answers no sign-in that lacks it',
    }),
  },
  { title: 'CurrentSignIn' },
)

/** The caller, as the service sees them in this sign-in. */
export const OwnUser = Type.Object(
  {
    id: Uuid,
    email: Type.String(),
    name: Type.String(),
    department: shownFacts.department,
    title: shownFacts.title,
    manager: Type.Optional(
      Type.Object({ id: Uuid, name: Type.String() }, { description: 'left out where none is known' }),
    ),
    tenant: Type.Object({
      id: Uuid,
      name: Type.String(),
      slug: Nullable(Type.String({ description: 'a short name that the operator gave the tenant; null: none' })),
      mode: OneOf(['rehearsal', 'live'] as const),
    }),
    is_owner: Type.Boolean(),
    roles: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        own: Type.Boolean({ description: 'false: only by a group' }),
      }),
      { maxItems: maxListed, description: cut },
    ),
    groups: Type.Array(Type.Object({ id: Uuid, name: Type.String() }), { maxItems: maxListed, description: cut }),
    scopes: Type.Array(Type.String(), { description: 'what this sign-in may do, by all roles, also those not listed' }),
    preferences: EffectivePreferences,
    limits: Limits,
    unread_notifications: Type.Integer({
      minimum: 0,
      maximum: maxUnread,
      description: `${maxUnread}: so many, or more`,
    }),
    sign_in: SignIn,
  },
  { title: 'OwnUser' },
)
export type OwnUser = Static<typeof OwnUser>

/** What the database holds of the caller. `settings`: those that the tenant has set. */
export type OwnUserRow = Pick<
  OwnUser,
  'id' | 'email' | 'name' | 'tenant' | 'is_owner' | 'roles' | 'groups' | 'unread_notifications'
> &
  Pick<StoredFacts, 'department' | 'title'> &
  Preferences & {
    manager: NonNullable<OwnUser['manager']> | null
    settings: Readonly<Record<string, string>>
    needs_second_factor: boolean
  }

/** The caller, in a sign-in with these scopes. */
export function ownUserOf(
  { locale, timezone, date_format, time_format, settings: stored, needs_second_factor, ...row }: OwnUserRow,
  { scopes, session }: { scopes: ReadonlySet<string>; session: Pick<SignInSession, 'amr' | 'auth_time'> },
): OwnUser {
  const settings = readSettingValues(stored)
  const { department, title, manager, ...user } = row
  return {
    ...user,
    ...(department !== null && { department }),
    ...(title !== null && { title }),
    ...(manager !== null && { manager }),
    scopes: [...scopes].sort(),
    preferences: effectivePreferences({ locale, timezone, date_format, time_format }, settings),
    limits: {
      require_reason: settings['requests.require_reason'],
      default_duration_seconds: settleDuration(null, settings),
      max_duration_seconds: settings['requests.max_duration_seconds'],
      pending_ttl_seconds: settings['requests.pending_ttl_seconds'],
      max_pending_requests: maxPendingRequests,
    },
    sign_in: { amr: [...session.amr], auth_time: session.auth_time.toISOString(), needs_second_factor },
  }
}

function effectivePreferences(own: Preferences, settings: Settings): OwnUser['preferences'] {
  return {
    ...own,
    locale: own.locale ?? settings['locale.default'],
    timezone: own.timezone ?? settings['timezone.default'],
    chosen: preferenceFields.filter((field) => own[field] !== null),
  }
}
