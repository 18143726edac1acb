import assert from 'node:assert/strict'
import type { Refusal } from './client.ts'
import type { Person, Sallyport } from './sallyport.ts'
import { totpApp } from './totp-app.ts'

/** Sets up a second factor for a user who has signed in, and signs them in with it: an approver of a live tenant needs both. */
export async function withSecondFactor(sallyport: Pick<Sallyport, 'client'>, person: Person): Promise<Person> {
  const url = '/v1/users/me/second-factors'
  const begun = await person.call<{ id: string; totp: { secret: string } }>('POST', url, { kind: 'totp' })
  const code = totpApp(begun.body.totp.secret).code()
  const made = await person.call<{ recovery_codes: string[] }>('POST', `${url}/${begun.body.id}/confirm`, {
    totp: code,
  })
  assert.equal(made.status, 200, JSON.stringify(made.body))
  const { email, password } = person
  const anybody = sallyport.client(undefined)
  const asked = await anybody<Refusal>('POST', '/v1/auth/login', { email, password })
  const challenge = asked.body.details?.challenge
  // The code that confirmed the app signs nobody in, and the next one comes in half a minute.
  const proof = { challenge, recovery_code: made.body.recovery_codes[0] }
  const { status, body } = await anybody<{ token: string }>('POST', '/v1/auth/second-factor', proof)
  assert.equal(status, 200, JSON.stringify(body))
  return { ...person, token: body.token, call: sallyport.client({ token: body.token }) }
}
