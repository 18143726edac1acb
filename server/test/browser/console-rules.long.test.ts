import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'

/** An administrator adds rules by filling in sentences, sees who gains before they save, and removes one. */
suite('rules as sentences in the console', { skip: skipChromium }, async () => {
  const { sallyport, signIn, sound } = await openConsoleStage()
  const olga = await sallyport.join('Olga Admin', ['admin'])
  const { body: group } = await olga.call<{ id: string }>('POST', '/v1/groups', { name: 'Payments developers' })
  const kim = await sallyport.join('Kim Novak', ['user'])
  await olga.call('POST', `/v1/groups/${group.id}/members`, { user_id: kim.id })
  const window = await signIn(olga, 'start')
  const { page } = window
  const add = page.getByRole('button', { name: 'Add rule' })
  const who = page.getByLabel('Who', { exact: true })

  test('who gains follows the slots', async () => {
    await add.waitFor()
    await who.selectOption({ label: 'Members of Payments developers' })
    await page.getByLabel('Where', { exact: true }).selectOption({ label: 'accounts with env = production' })
    await page.getByLabel('Action', { exact: true }).fill('Deploy')
    await page.getByText(/^1 person gains Deploy on 4 accounts, at once: Kim Novak\./).waitFor()
    await page.getByText('As Cedar').click()
    await page.getByText(/principal in Group::/).waitFor()
    await sound(window, 'rules-slots')
  })

  test('a slot that is empty says so, and nothing is sent', async () => {
    await page.getByLabel('Action', { exact: true }).fill('')
    await add.click()
    await page.getByText('Name an action').waitFor()
    await sound(window, 'rules-fault')
    await page.getByLabel('Action', { exact: true }).fill('Deploy')
  })

  test('a rule that is added stands in the list as its sentence, and does what it says', async () => {
    await page.getByText(/^1 person gains Deploy/).waitFor()
    await add.click()
    const name = /^Remove: Members of Payments developers may get Deploy on accounts with env = production/
    await page.getByRole('button', { name }).waitFor()
    const ask = (account: string) =>
      kim.call<{ approval_mode: string }>('POST', '/v1/requests/preview', {
        resource: { type: 'cloud_account', id: account },
        ...{ action: 'Deploy', reason: 'the new version', duration_seconds: 3_600 },
      })
    const [production, test] = [await ask('123456789010'), await ask('123456789011')]
    assert.deepEqual([production.body.approval_mode, test.body], ['auto', { ...test.body, allowed: false }])
  })

  const changes = {
    'Production needs one approval': /^1 person needs approval from now on for Deploy on 4 accounts: Kim Novak\./,
    'Administrator rights': /^\d people gain AdministratorAccess on 2 accounts, with approval: /,
    Emergency: /^Nobody gains anything by this/,
    'Databases in working hours': /^Databases and other resources are not listed here/,
  }
  for (const [template, change] of Object.entries(changes))
    test(`${template}: it says what it changes, and is added`, async () => {
      const rules = page.getByRole('button', { name: /^Remove: / })
      const before = await rules.count()
      await page.getByText(template, { exact: true }).click()
      await page.getByText(change).waitFor()
      await sound(window, `rules-${template.split(' ')[0]?.toLowerCase()}`)
      await add.click()
      await rules.nth(before).waitFor()
    })

  test('a rule is removed after a question', async () => {
    const rules = page.getByRole('button', { name: /^Remove: / })
    const before = await rules.count()
    await rules.first().click()
    const dialog = page.getByRole('alertdialog')
    await sound(window, 'rules-remove')
    await dialog.getByRole('button', { name: 'Remove rule' }).click()
    await dialog.waitFor({ state: 'detached' })
    await rules.nth(before - 2).waitFor()
    assert.equal(await rules.count(), before - 1)
  })

  /** Changes the rule that stands last in the policy of the console, as another person does. */
  async function changeLast(action_id: string) {
    const { body } = await olga.call<{ data: { id: string; name: string; rules: { id: string }[] }[] }>(
      'GET',
      '/v1/policies?q=Access',
    )
    const policy = body.data.find(({ name }) => name === 'Access')
    const path = `/v1/policies/${policy?.id}/rules/${policy?.rules.at(-1)?.id}`
    const changed = await olga.call('PATCH', path, { action_ids: [action_id] })
    assert.equal(changed.status, 200, JSON.stringify(changed.body))
    return path
  }

  test('a rule that another person changes while it is to be removed is shown as it is now, and asked about again', async () => {
    const rules = page.getByRole('button', { name: /^Remove: / })
    const before = await rules.count()
    await rules.last().click()
    const dialog = page.getByRole('alertdialog')
    const again = page.getByRole('alertdialog', { name: 'This rule was changed meanwhile. Remove it as it is now?' })
    const remove = dialog.getByRole('button', { name: 'Remove rule' })
    await dialog.getByText(/may get read on/).waitFor()

    const path = await changeLast('write')
    await remove.click()
    await again.getByText(/may get write on/).waitFor()
    await sound(window, 'rules-changed')

    // The change comes between what the console reads and what it sends.
    const later = ['list']
    await page.route(`**${path}`, async (route) => {
      const [action] = route.request().method() === 'DELETE' ? later.splice(0) : []
      if (action !== undefined) await changeLast(action)
      await route.continue()
    })
    await remove.click()
    await again.getByText(/may get list on/).waitFor()
    assert.equal((await olga.call('GET', path)).status, 200)

    await remove.click()
    await dialog.waitFor({ state: 'detached' })
    await rules.nth(before - 2).waitFor()
    assert.equal((await olga.call('GET', path)).status, 404)
  })
})
