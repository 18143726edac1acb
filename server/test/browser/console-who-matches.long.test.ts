import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { scimClientAt } from '../support/scim-client.ts'
import { until } from '../support/wait.ts'

/** Who the people of a directory that pushes are here, and would be. */
suite('who matches, in the console', { skip: skipChromium }, async () => {
  const { sallyport, signIn, sound } = await openConsoleStage()
  const kim = await sallyport.join('Kim Novak', ['admin'])
  const make = async (path: string, body: object) => (await kim.call<Record<string, string>>('POST', path, body)).body
  const provider = { name: 'Our Entra ID', provider_type: 'custom_scim' }
  const { id: directory = '' } = await make('/v1/identity-providers', provider)
  const { key = '' } = await make('/v1/api-keys', { name: 'directory', identity_provider_id: directory })
  const scim = scimClientAt(sallyport.base_url, { id: directory, key })
  const window = await signIn(kim, 'directories')
  const { page } = window
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const question = (name: string) => page.getByRole('alertdialog', { name })
  const item = (list: string) => page.getByRole('list', { name: list, exact: true }).getByRole('listitem')
  const to = (path: string) => page.goto(`${sallyport.base_url}/console/${path}`)
  const users = async (query: string) =>
    (await kim.call<{ data: { active: boolean }[] }>('GET', `/v1/users?${query}`)).body.data

  test('who left gives the address to somebody else, or comes back', async () => {
    await to(`directories/${directory}`)
    const leave = async (name: string) => {
      const made = await scim('POST', '/Users', { userName: `${name}@example.com`, externalId: `${name}-1` })
      const stop = { Operations: [{ op: 'replace', path: 'active', value: false }] }
      assert.equal((await scim('PATCH', `/Users/${made.body.id}`, stop)).status, 200)
    }
    const returns = (name: string, displayName: string) =>
      scim('POST', '/Users', { userName: `${name}@example.com`, externalId: `${name}-2`, displayName })
    await Promise.all([leave('lea'), leave('max')])
    assert.deepEqual(
      [(await returns('lea', 'Lea Two')).status, (await returns('max', 'Max Planck')).status],
      [409, 409],
    )
    await until('both say that the user here left', async () => {
      return (await item('To settle').getByText('Left, and is deactivated').count()) === 2
    })
    await button('They are one person: Max Planck').click()
    await question('Is Max Planck in the directory the same person as').getByText('with the roles they had').waitFor()
    await button('Make them one person').click()
    await item('To settle').getByText('Max Planck', { exact: true }).waitFor({ state: 'detached' })
    assert.deepEqual(
      (await users('q=max@example')).map(({ active }) => active),
      [true],
    )
    await button('They are two people: Lea Two').click()
    await question('Is Lea Two in the directory somebody else than').getByText('is deleted for good').waitFor()
    await sound(window, 'directories-settle-delete')
    await button('Delete who left').click()
    await item('To settle').getByText('Lea Two', { exact: true }).waitFor({ state: 'detached' })
    assert.equal((await returns('lea', 'Lea Two')).status, 201)
  })

  test('a list of the directory says who would match', async () => {
    await make('/v1/users', { email: 'alan@example.com', name: 'Alan', roles: ['user'], auth_provider: 'oidc' })
    for (const one of ['grace', 'alan']) {
      await scim('POST', '/Users', { userName: `${one}@example.com`, externalId: `${one}-1` })
    }
    const list = page.getByLabel('List of users')
    await list.fill('Name\nAda')
    await button('See who matches').click()
    await page.getByText('No column is called userName').waitFor()
    const rows = [
      'userPrincipalName,objectId,mail',
      'grace@example.com,grace-1,',
      'alan@example.com,alan-1,',
      'new@example.com,n1,',
    ]
    await list.fill([...rows, `kim,k1,${kim.email}`, 'nobody,x,'].join('\n'))
    await button('See who matches').click()
    await page.getByText('5 people: 1 known already, 1 new, 2 to settle, 1 refused.').waitFor()
    assert.equal(await item('Who needs a look').count(), 3)
    await sound(window, 'directories-match')
    await page.getByLabel('Choose a file').setInputFiles({
      ...{ name: 'users.csv', mimeType: 'text/csv', buffer: Buffer.from('login\nnew@example.com\n') },
    })
    await button('See who matches').click()
    await page.getByText('1 person: 1 new.').waitFor()
  })
})
