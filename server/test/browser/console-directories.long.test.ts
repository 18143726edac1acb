import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { openDirectoryPeer, token } from '../support/directory-peer.ts'
import { scimClientAt } from '../support/scim-client.ts'
import { until } from '../support/wait.ts'

/** An administrator connects directories in the console, has them read, and settles what a directory cannot. */
suite('directories in the console', { skip: skipChromium }, async () => {
  const { sallyport, people, signIn, sound } = await openConsoleStage({ EGRESS_ALLOW: '127.0.0.1' })
  const peer = await openDirectoryPeer()
  const kim = await sallyport.join('Kim Novak', ['admin'])
  const window = await signIn(kim, 'directories')
  const { page } = window
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' })
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  const question = (name: string) => page.getByRole('alertdialog', { name })
  const heading = (name: string) => page.getByRole('heading', { name, exact: true })
  const form = page.getByRole('form', { name: 'Connect a directory' })
  const item = (list: string) => page.getByRole('list', { name: list, exact: true }).getByRole('listitem')
  const to = (path: string) => page.goto(`${sallyport.base_url}/console/${path}`)
  const users = async (query: string) =>
    (
      await kim.call<{ data: { name: string; active: boolean; identity_provider_id?: string }[] }>(
        'GET',
        `/v1/users?${query}`,
      )
    ).body.data
  let scim: ReturnType<typeof scimClientAt>

  test('where none is connected, one sentence says what one is for', async () => {
    await page.getByText('people join by an invitation').waitFor()
    await sound(window, 'directories-empty')
    await link('Connect a directory').click()
    await heading('Connect a directory').waitFor()
  })

  test('one that pushes gets an address and a key, which is shown once', async () => {
    await button('Make address and key').click()
    await form.getByText('Enter a name.').waitFor()
    await sound(window, 'directories-connect')
    await form.getByLabel('Name').fill('Our Entra ID')
    await button('Make address and key').click()
    await heading('Our Entra ID').waitFor()
    await page.getByText('The key is shown only now.').waitFor()
    await page.getByText('It has not called yet.').waitFor()
    const texts = await page.getByRole('code').allTextContents()
    const [address = '', key = ''] = texts
    assert.match(address, /\/scim\/v2\/[0-9a-f-]{36}\?aadOptscim062020$/)
    await sound(window, 'directories-key')
    await page.getByText('Okta', { exact: true }).click()
    await page.getByText('OAuth Bearer Token', { exact: true }).waitFor()
    const id = /scim\/v2\/([0-9a-f-]+)/.exec(address)?.[1] ?? ''
    scim = scimClientAt(sallyport.base_url, { id, key })
    assert.equal((await scim('GET', '/Users')).status, 200)
    await page.getByText('In order', { exact: true }).waitFor()
    await button('I have entered it').click()
    await page.getByText(key).waitFor({ state: 'detached' })
    await page.reload()
    await page.getByText(/^made .* · last used /).waitFor()
    await page.getByText('Last called').waitFor()
    await page.getByText('In order', { exact: true }).waitFor()
    assert.equal(await page.getByText(key).count(), 0)
    await sound(window, 'directories-push')
  })

  test('somebody whose address is taken appears by itself, and a person says who they are', async () => {
    const local = (email: string, name: string) =>
      kim.call('POST', '/v1/users', { email, name, roles: ['user'], auth_provider: 'oidc' })
    await local('grace@example.com', 'Grace Hopper')
    await local('alan@example.com', 'Alan Turing')
    await scim('POST', '/Users', { userName: 'grace@example.com', externalId: 'g1', displayName: 'Grace B. Hopper' })
    await scim('POST', '/Users', { userName: 'alan@example.com', externalId: 'a1', displayName: 'Alan Kay' })
    await item('To settle').getByText('Grace B. Hopper').waitFor()
    await item('To settle').getByText('Alan Kay').waitFor()
    await sound(window, 'directories-settle')
    await button('They are one person: Grace B. Hopper').click()
    await question('Is Grace B. Hopper in the directory the same person as').getByText('Our Entra ID manages').waitFor()
    await sound(window, 'directories-settle-one')
    await button('Make them one person').click()
    await item('To settle').getByText('Grace B. Hopper', { exact: true }).waitFor({ state: 'detached' })
    const [grace] = await users('q=grace@example')
    assert.ok(grace?.identity_provider_id, 'the directory manages her')
    await button('They are two people: Alan Kay').click()
    await question('Is Alan Kay in the directory somebody else than').getByText('Alan Kay stays out').waitFor()
    // As a live tenant answers, where the sign-in is older than an hour.
    const message = 'this needs a sign-in within the last hour; sign in again, then send it again'
    const old = { code: 'sign_in_again', message, details: { acr: null, max_age: 3_600 } }
    await page.route('**/settle', (route) => route.fulfill({ status: 403, json: old }), { times: 1 })
    await button('Keep them apart').click()
    await button('Sign in again').click()
    const again = page.getByRole('dialog')
    await again.getByLabel('E-mail address').fill(kim.email)
    await again.getByLabel('Passphrase').fill(kim.password)
    await again.getByLabel('Organization').fill(sallyport.bootstrap.tenant_id)
    await again.getByRole('button', { name: 'Sign in', exact: true }).click()
    await item('To settle').getByText('Kept apart').waitFor()
    const [alan] = await users('q=alan@example')
    assert.equal(alan?.identity_provider_id, undefined)
  })

  test('further removals of many are refused where a person says so', async () => {
    await page.getByText('Refuse further ones until you have looked').click()
    await page.getByText('It is saved.').waitFor()
    const { body } = await kim.call<{ data: { config: object }[] }>('GET', '/v1/identity-providers')
    assert.deepEqual(body.data[0]?.config, { mass_removals: 'refuse' })
  })

  test('a key is made beside another, and the one before is revoked', async () => {
    await button('Make another key').click()
    await page.getByText('The key is shown only now.').waitFor()
    await until('two are listed', async () => (await item('Keys').count()) === 2)
    await item('Keys')
      .filter({ hasText: 'last used' })
      .getByRole('button', { name: /^Revoke/ })
      .click()
    await page.getByRole('alertdialog').getByText('refused from the next call on').waitFor()
    await sound(window, 'directories-revoke')
    await button('Revoke key').click()
    await until('one is left', async () => (await item('Keys').count()) === 1)
    assert.equal((await scim('GET', '/Users')).status, 401)
  })

  test('what is wrong with one that is read stands at its field', async () => {
    await to('directories/new')
    await page.getByText('A SCIM server', { exact: true }).click()
    await button('Look first').click()
    await until('each needed field says so', async () => (await form.getByText('This is needed.').count()) === 2)
    await form.getByLabel('Name').fill('Our SCIM server')
    await form.getByLabel('Address of the server').fill(`${peer.base_url}/Users`)
    await form.getByLabel('Token').fill(token)
    await button('Look first').click()
    await form.getByText('Must end before “/Users” and “/Groups”.').waitFor()
    await sound(window, 'directories-fault')
  })

  test('to look shows what would happen, and changes nobody', async () => {
    peer.hold()
    await form.getByLabel('Address of the server').fill(peer.base_url)
    await form.getByLabel('Token').fill(token)
    await button('Look first').click()
    await page.waitForURL(/\?run=/)
    await heading('Look at Our SCIM server').waitFor()
    await page.getByText(/^It reads|^It begins/).waitFor()
    await sound(window, 'directories-looking')
    peer.goOn()
    await page.getByText('20 people in the directory: 20 new.').waitFor()
    await page.getByText('1 group in the directory: 1 new.').waitFor()
    await until('each is listed', async () => (await item('What changed').count()) === 21)
    await sound(window, 'directories-look')
    assert.deepEqual(await users('q=person'), [])
    const made = await kim.call<{ data: object[] }>('GET', '/v1/identity-providers')
    assert.equal(made.body.data.length, 2, 'the second try corrected the first')
  })

  test('to read makes the people, and the schedule begins', async () => {
    await button('Read now').click()
    await heading('Reading of Our SCIM server').waitFor()
    await page.getByText('Read', { exact: true }).waitFor()
    assert.equal((await users('q=person&limit=100')).length, 20)
    await link('Back to the directory').click()
    await page.getByText('In order', { exact: true }).waitFor()
    await page.getByText(/^Read every 60 minutes\. Next /).waitFor()
    await until('both are listed', async () => (await item('Readings').count()) === 2)
    await sound(window, 'directories-read')
  })

  test('when many would go, nobody goes before a person says so', async () => {
    peer.people.splice(14)
    await button('Read now').click()
    const card = page.getByRole('region', { name: '6 people would go' })
    await card.getByText('6 of 20 users would be deactivated').waitFor()
    await sound(window, 'directories-stopped')
    await card.getByRole('link', { name: 'See who is no longer in the directory' }).click()
    await page.waitForURL(/change=absent/)
    await until('they alone are listed', async () => (await item('What changed').count()) === 6)
    await page.getByLabel('Outcome').selectOption('Done')
    await page.getByText('Nothing matches.').waitFor()
    await sound(window, 'directories-changes-none')
    await button('Clear filters').click()
    assert.equal((await users('q=person&active=true&limit=100')).length, 20)
    await to('directories')
    await page.getByText('Waits for confirmation').waitFor()
    await sound(window, 'directories-list')
    await link('Our SCIM server').click()
    await button('Let 6 people go').click()
    const dialog = question('Let 6 people go?')
    await dialog.getByText('6 people can no longer sign in').waitFor()
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel')
    await sound(window, 'directories-let-go')
    await dialog.getByRole('button', { name: 'Let 6 people go' }).click()
    await page.waitForURL(/\?run=/)
    await page.getByText('Read', { exact: true }).waitFor()
    await page.getByText('14 people in the directory: 6 deactivated.').waitFor()
    assert.equal((await users('q=person&active=true&limit=100')).length, 14)
  })

  test('when it cannot be read, the page says why, and nobody changes', async () => {
    peer.fail()
    const before = new URL(page.url()).searchParams.get('run')
    await link('Back to the directory').click()
    await button('Read now').click()
    await page.waitForURL(({ searchParams }) => ![null, before].includes(searchParams.get('run')))
    await page.getByText('Failed', { exact: true }).waitFor()
    await page.getByText(/answered 401/).waitFor()
    await sound(window, 'directories-run-failed')
    await link('Back to the directory').click()
    await page.getByText('Failed', { exact: true }).first().waitFor()
    await sound(window, 'directories-failed')
    await page.getByText('How it is read').click()
    await sound(window, 'directories-settings')
    assert.equal((await users('q=person&active=true&limit=100')).length, 14)
  })

  test('it is switched off after a question, and on again', async () => {
    await button('Switch off').click()
    await question('Switch Our SCIM server off?').getByRole('button', { name: 'Switch off' }).click()
    await page.getByText('Switched off', { exact: true }).waitFor()
    assert.equal(await button('Read now').count(), 0)
    await button('Switch on').click()
    await page.getByText('Switched off', { exact: true }).waitFor({ state: 'detached' })
  })

  test('the form for LDAP has the fields that each needs, and more below a fold', async () => {
    await to('directories/new')
    await page.getByText('LDAP, Active Directory', { exact: true }).click()
    await page.getByText('Narrow what is read').click()
    await form.getByLabel('Base of people').waitFor()
    await sound(window, 'directories-ldap')
    await page.getByText('AWS Identity Center', { exact: true }).click()
    await page.getByText('Connect AWS first').waitFor()
    await sound(window, 'directories-center')
  })

  test('all of it fits in German', async () => {
    await kim.call('PATCH', '/v1/users/me/preferences', { locale: 'de' })
    await to('directories')
    await heading('Verzeichnisse').waitFor()
    await page.getByText('Unser').or(page.getByText('Our SCIM server')).first().waitFor()
    await sound(window, 'directories-list-german')
    // The narrowest window with the navigation at the top.
    await page.setViewportSize({ width: 640, height: 900 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 640)
    await link('Our SCIM server').click()
    await page.getByText('Wird alle 60 Minuten gelesen.').waitFor()
    await sound(window, 'directories-german')
    await to('directories/new')
    await page.getByText('LDAP, Active Directory', { exact: true }).click()
    await page.getByText('Eingrenzen, was gelesen wird').click()
    await sound(window, 'directories-ldap-german')
  })

  test('who may only see them changes nothing, and who may not is not led there', async () => {
    const eyes = await sallyport.join('Ona Eyes', ['user'])
    await kim.call('PUT', `/v1/users/${eyes.id}/roles`, { roles: ['auditor'] })
    const ona = await signIn(eyes, 'directories')
    assert.equal(await ona.page.getByRole('link', { name: 'Connect a directory' }).count(), 0)
    await ona.page.getByRole('link', { name: 'Our SCIM server' }).click()
    await ona.page.getByText('You may see this directory, and not have it read.').waitFor()
    for (const name of ['Read now', 'Look again', 'Switch off'])
      assert.equal(await ona.page.getByRole('button', { name }).count(), 0, name)
    await sound(ona, 'directories-read-only')
    const dana = await signIn('dana')
    assert.equal(await dana.page.getByRole('link', { name: 'Directories', exact: true }).count(), 0)
  })

  test('what a directory says of a person is on their own page', async () => {
    await kim.call('PATCH', `/v1/users/${people.dana.id}`, {
      ...{ department: 'Payments and Settlement', title: 'Principal Engineer', manager_id: people.ben.id },
    })
    const dana = await signIn('dana', 'me')
    await dana.page.getByText('Payments and Settlement').waitFor()
    await dana.page.getByText('Principal Engineer').waitFor()
    await dana.page.getByText('Ben Marsh').waitFor()
    await sound(dana, 'me-facts')
  })
})
