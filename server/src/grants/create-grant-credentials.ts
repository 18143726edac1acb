import { Type } from 'typebox'
import { operation } from '../http/operation.ts'
import { Body, DateTime, IdParams } from '../http/schema.ts'
import { openBuckets, rateLimited } from '../kernel/bucket.ts'
import type { Ctx } from '../kernel/context.ts'
import { notFound, Problem } from '../kernel/errors.ts'
import { discreetDriver } from '../provisioners/discreet-driver.ts'
import { type Credentials, NotNow, type Target, TargetError } from '../provisioners/driver.ts'
import type { DriverTypes } from '../provisioners/drivers.ts'
import { inTime } from '../provisioners/in-time.ts'
import { findOpening } from '../provisioners/open-provisioner.flow.ts'
import { findGrantToSignIn, type GrantToSignIn, recordCredentials } from './credentials-store.ts'
import { maySeeGrant } from './grant.ts'

/** The caller waits for the target. */
const maxTargetMs = 8_000

/** Of one holder, in one process: each call is a connection to the target. */
const limit = { name: 'grant_credentials', quota: 20, seconds: 60 } as const

const GrantCredentials = Type.Object(
  {
    user: Type.String({ description: 'the login that was made for the grant' }),
    password: Type.String({ description: 'a new one: shown only here, and kept nowhere' }),
    valid_until: Type.String({ ...DateTime, description: 'when the grant ends; an extension is not counted' }),
  },
  { title: 'GrantCredentials' },
)

/**
 * Gives the holder of a grant a new password of the login that was made for it. Each call makes another one and ends the one before, so
 * nothing is kept for a repeated call: Sallyport itself does not know the password afterwards.
 */
export const createGrantCredentials = (types: DriverTypes, buckets = openBuckets(limit)) =>
  operation({
    method: 'POST',
    path: '/v1/grants/{id}/credentials',
    summary:
      'Get a new password for the login of your grant, which ends the one before; each call makes another one, also with the same `Idempotency-Key`',
    credential: 'user',
    scope: null,
    params: IdParams,
    body: Body({}),
    replies: { 200: GrantCredentials },
    // Whoever holds a token of a person of the rehearsal acts for another, and the password outlives it.
    refusesRehearsal: true,
    keepsNoAnswer: true,
    errors: ['forbidden', 'not_found', 'grant_not_live', 'credentials_not_available', 'rate_limited'],
    async run(ctx, { params: { id } }) {
      const grant = await findGrantToSignIn(ctx.tx, id)
      if (grant === undefined || !maySeeGrant(ctx.actor, grant)) throw notFound('grant')
      const target = requireTarget(ctx, grant)
      const taken = buckets.take(`${ctx.tx.tenant_id}/${ctx.actor.user_id}`)
      if (!taken.allowed) throw rateLimited(limit, taken.retrySeconds)
      const { user, password } = await issue(ctx, types, grant.provisioner_id, target)
      const valid_until = await recordCredentials(ctx, id, user)
      if (valid_until === undefined) throw new Problem('grant_not_live', 'the grant has just ended')
      return { user, password, valid_until }
    },
  })

/** @throws Problem 403 for another user than the holder, 409 when the grant has ended, or has not begun, 503 when nothing may be changed there */
function requireTarget({ actor }: Ctx, { user_id, status, is_over, target, is_held_back }: GrantToSignIn): Target {
  if (user_id !== actor.user_id) throw new Problem('forbidden', 'only the holder of a grant receives its password')
  if (status === 'pending' || target === null) throw notAvailable(`the access is not given: the grant is ${status}`)
  if (status !== 'active' || is_over) {
    throw new Problem('grant_not_live', 'the grant has already ended', { details: { status } })
  }
  if (is_held_back) throw unavailable('this Sallyport does nothing at its targets now, or another one acts there')
  return target
}

/** @throws Problem 503 with the cause when the target cannot be reached, 409 when it gives no passwords or holds no login any more */
async function issue(
  ctx: Ctx,
  types: DriverTypes,
  provisioner_id: string | null,
  target: Target,
): Promise<Credentials> {
  const openable = provisioner_id === null ? undefined : await findOpening(ctx, provisioner_id)
  if (openable === undefined) throw none()
  const { found, secrets, opening } = openable
  const driver = discreetDriver(types[found.provisioner_type].open(opening), secrets)
  try {
    const { setPassword } = driver
    if (setPassword === null) throw none()
    return await inTime(maxTargetMs, (signal) => setPassword(target, signal))
  } catch (error) {
    if (error instanceof NotNow) throw unavailable('its target has no room for the call')
    if (!(error instanceof TargetError)) throw error
    throw error.kind === 'permanent' ? notAvailable(error.message) : unavailable(error.message)
  } finally {
    void driver.close().catch(() => undefined)
  }
}

function none(): Problem {
  return notAvailable('its target makes no logins: the grant says how to sign in there')
}

function notAvailable(why: string): Problem {
  return new Problem('credentials_not_available', `there is no password for this grant: ${why}`)
}

function unavailable(why: string): Problem {
  return new Problem('unavailable', `the password could not be set, retry in a moment: ${why}`)
}
