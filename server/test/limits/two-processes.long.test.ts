import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client, Refusal } from '../support/client.ts'
import { startOnTestServer } from '../support/sallyport.ts'

/** Two processes on one database count an account's failures together. */
const one = await startOnTestServer({ PUBLIC_URL: 'https://sallyport.example.com' })
const other = await one.beside()
const strangers = [one.client(undefined), other.client(undefined)] as const
const key = one.client({ api_key: one.bootstrap.api_key })

const password = 'correct horse battery'
async function makeUser(email: string): Promise<string> {
  const made = await key('POST', '/v1/users', { email, name: 'Somebody', password, roles: ['user'] })
  assert.equal(made.status, 201)
  return email
}
const signIn = (at: Client, email: string, text: string) =>
  at<Refusal>('POST', '/v1/auth/login', { email, password: text })

test('ten wrong passwords at two processes lock the account at both for a quarter of an hour and no longer (D4)', async () => {
  const email = await makeUser('ada@example.com')
  for (let wrong = 0; wrong < 10; wrong += 1) {
    const reply = await signIn(strangers[wrong % 2] ?? strangers[0], email, 'wrong')
    assert.deepEqual([reply.status, reply.body.code], [401, 'unauthenticated'])
  }
  for (const at of strangers) {
    const { status, headers, body } = await signIn(at, email, password)
    assert.deepEqual([status, body.code, body.details?.limit], [429, 'rate_limited', 'account'])
    const seconds = Number(headers.get('retry-after'))
    assert.ok(seconds > 0 && seconds <= 900, `${seconds} s`)
    assert.equal(headers.get('ratelimit-policy'), '"account";q=10;w=900')
  }
  await one.asSuperuser(`update sign_in_failure set began_at = began_at - interval '15 minutes'`)
  for (const at of strangers) assert.equal((await signIn(at, email, password)).status, 200)
})

test('of many guesses at once at both processes ten are answered, even if one of the rest is right (D4)', async () => {
  const email = await makeUser('ben@example.com')
  const guesses = Array.from({ length: 24 }, (_, index) => signIn(strangers[index % 2] ?? strangers[0], email, 'wrong'))
  const answers = Map.groupBy(await Promise.all(guesses), ({ status }) => status)
  assert.deepEqual([...answers.keys()].sort(), [401, 429])
  assert.equal(answers.get(401)?.length, 10)
  for (const at of strangers) assert.equal((await signIn(at, email, password)).status, 429)
})
