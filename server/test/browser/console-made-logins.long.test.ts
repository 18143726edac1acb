import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { configOf, letMakeLogins, setUpByGuide } from '../support/postgresql-stage.ts'
import { withSecondFactor } from '../support/strong-sign-in.ts'
import { startTargetPostgres } from '../support/target-postgres.ts'

const account = '123456789012'
const database = `arn:aws:rds:eu-west-1:${account}:db:orders`

suite('a password for a login that was made for the access', { skip: skipChromium }, async () => {
  const server = await startTargetPostgres(18)
  after(server.stop)
  await setUpByGuide(server)
  await letMakeLogins(server)
  const { sallyport, people, signIn, sound } = await openConsoleStage({ EGRESS_ALLOW: '127.0.0.1' })
  const owner = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  const made = await owner('POST', '/v1/provisioners', {
    name: 'orders',
    provisioner_type: 'postgresql',
    config: configOf(server, { resource_ids: [database], makes_logins: true }),
    serves: [{ resource_type: 'cloud_db_instance', account_ids: [account] }],
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))

  test('is shown once to its holder, with a way to copy it, and the next one ends it', async () => {
    const policy = await owner<{ id: string }>('POST', '/v1/policies', { name: 'Databases' })
    await owner('POST', `/v1/policies/${policy.body.id}/rules`, { effect: 'permit' })
    const asked = await people.dana.call<{ id: string }>('POST', '/v1/requests', {
      resource: { type: 'cloud_db_instance', id: database },
      action: 'read',
      reason: 'look at an order',
      duration_seconds: 3_600,
    })
    assert.equal(asked.status, 201, JSON.stringify(asked.body))
    // A tenant with a provisioner is live, where who decides has a second factor.
    const approver = await withSecondFactor(sallyport, await sallyport.join('Bob', ['approver']))
    const approved = await approver.call('POST', `/v1/requests/${asked.body.id}/approve`, {})
    assert.equal(approved.status, 200, JSON.stringify(approved.body))
    const window = await signIn('dana')
    const { page } = window
    const get = page.getByRole('button', { name: /^Get a password: read on / })
    await get.click()
    const title = page.getByRole('heading', { name: /^The password of dana/ })
    await title.waitFor()
    assert.match((await page.locator(':focus').textContent()) ?? '', /^The password of dana/)
    const login = ((await title.textContent()) ?? '').replace('The password of ', '')
    const shown = page.locator('p.font-mono').filter({ hasText: /^[A-Za-z0-9_-]{32}$/ })
    const password = (await shown.textContent()) ?? ''
    await server.signIn(login, password)
    await page.getByRole('button', { name: 'Copy the password' }).waitFor()
    await sound(window, 'a password that is shown once')
    await page.getByRole('button', { name: 'I have it' }).click()
    await shown.waitFor({ state: 'detached' })
    await get.click()
    await title.waitFor()
    const next = (await shown.textContent()) ?? ''
    assert.notEqual(next, password)
    await assert.rejects(server.signIn(login, password), /password authentication failed/)
    await server.signIn(login, next)
  })
})
