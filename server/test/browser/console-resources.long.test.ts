import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { until } from '../support/wait.ts'

/** An administrator adds accounts to those that can be requested, and none of the others changes. */
suite('the accounts in the console', { skip: skipChromium }, async () => {
  const { sallyport, signIn, sound } = await openConsoleStage()
  const kim = await sallyport.join('Kim Novak', ['admin'])
  type Account = { id: string; account_id: string; name: string; metadata: Record<string, unknown>; rank: number }
  const stored = async () =>
    (await kim.call<{ data: Account[] }>('GET', '/v1/cloud/accounts?limit=200')).body.data.sort((one, other) =>
      one.id < other.id ? -1 : 1,
    )
  const window = await signIn(kim, 'start')
  const { page } = window
  const send = page.getByRole('button', { name: 'Add account', exact: true })
  const form = page.getByRole('form', { name: 'Add an account' })
  const row = (name: string) =>
    page.getByRole('list', { name: 'Accounts' }).getByRole('listitem').filter({ hasText: name })
  async function fill(name: string, number: string, environment: string): Promise<void> {
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByLabel('Account number').fill(number)
    await form.getByText(environment, { exact: true }).click()
  }

  test('what is missing is said at its field', async () => {
    await row('payments-prod').getByText('1234 5678 9010').waitFor()
    await form.getByText('Other', { exact: true }).click()
    await send.click()
    for (const said of ['Enter a name.', 'Enter the 12 digits', 'Enter a name for the environment.'])
      await form.getByText(said, { exact: said.endsWith('.') }).waitFor()
    await sound(window, 'accounts-missing')
  })

  test('an account is added, and all others stay as they are', async () => {
    const before = await stored()
    await fill('ledger', '9876 5432 1098', 'staging')
    await send.click()
    await row('ledger').getByText('staging').waitFor()
    const added = {
      id: '987654321098',
      account_id: '987654321098',
      name: 'ledger',
      metadata: { env: 'staging' },
      rank: 0,
    }
    assert.deepEqual(await stored(), [...before, added])
    // The list may show the account before the form is empty.
    await until('the form is empty', async () => (await form.getByLabel('Account number').inputValue()) === '')
    await fill('sandbox', '987654321099', 'Other')
    await form.getByLabel('Name of the environment').fill('play')
    await send.click()
    await row('sandbox').getByText('play').waitFor()
    await sound(window, 'accounts')
  })

  test('an account that is there is not overwritten, whatever its id', async () => {
    const mine = {
      id: 'crown',
      account_id: '555566667777',
      name: 'crown-jewels',
      metadata: { env: 'production', team: 'red' },
      rank: 9,
    }
    await kim.call('PUT', '/v1/cloud/accounts', { resources: [mine] })
    const before = await stored()
    for (const [number, name] of [
      ['123456789010', 'payments-prod'],
      ['5555 6666 7777', 'crown-jewels'],
    ] as const) {
      await fill('mine now', number, 'test')
      await send.click()
      await form.getByText(`as “${name}”. Nothing was changed.`).waitFor()
    }
    assert.deepEqual(await stored(), before)
    await sound(window, 'accounts-taken')
  })

  test('those of a rehearsal are named as such, and a long list is loaded in parts', async () => {
    const resources = Array.from({ length: 60 }, (_, nth) => ({
      ...{ id: `1111222200${10 + nth}`, account_id: `1111222200${10 + nth}`, name: `fleet-${10 + nth}`, rank: 20 },
      metadata: nth === 0 ? { env: 'production', rehearsal: 'true' } : {},
    }))
    await kim.call('PUT', '/v1/cloud/accounts', { resources })
    await page.reload()
    await row('fleet-10').getByText('Rehearsal', { exact: true }).waitFor()
    await row('fleet-11').getByText('no environment').waitFor()
    assert.equal(await row('fleet-69').count(), 0)
    await page.getByRole('button', { name: 'Load more' }).click()
    await row('fleet-69').waitFor()
  })

  test('who may not see accounts sees nothing of them, and who may only see them cannot add one', async () => {
    const dana = await signIn('dana', 'start')
    assert.equal(await dana.page.getByRole('heading', { name: 'What can be requested' }).count(), 0)
    const eyes = await sallyport.join('Ona Eyes', ['user'])
    await kim.call('PUT', `/v1/users/${eyes.id}/roles`, { roles: ['auditor'] })
    const ona = await signIn(eyes, 'start')
    await ona.page.getByText('payments-prod').first().waitFor()
    assert.equal(await ona.page.getByRole('form', { name: 'Add an account' }).count(), 0)
  })
})
