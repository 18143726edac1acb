import assert from 'node:assert/strict'
import type { Operation } from '../../src/http/operation.ts'
import type { Call, House, Person } from './house.ts'

/** How a caller proves who they are. */
export type Presented = Pick<Call, 'token' | 'api_key' | 'headers'>

/** The headers of a call from a page of the service, which is at its default address. */
export const fromOwnPage = { host: '127.0.0.1:8080', 'sec-fetch-site': 'same-origin' }

/** What an operation takes from a person: a token where no API key will do, with the headers of a page where a browser is to get it. */
export function presentedTo({ credential }: Pick<Operation, 'credential'>, { token, api_key }: Person): Presented {
  if (credential === 'token') return { token, headers: fromOwnPage }
  return credential === 'user' ? { token } : { api_key }
}

/** A browser in which the user has just signed in: the headers of its calls. */
export async function browserOf(house: House, tenant_id: string, user_id: string): Promise<Record<string, string>> {
  const token = await house.tokenOf(tenant_id, user_id, new Date())
  const url = '/v1/auth/session'
  const { status, text, headers } = await house.call({ method: 'POST', url, token, tenant_id, headers: fromOwnPage })
  assert.equal(status, 201, text)
  return { ...fromOwnPage, cookie: String(headers['set-cookie']).split(';', 1).join() }
}
