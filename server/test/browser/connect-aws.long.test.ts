import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { suite, test } from 'node:test'
import { type Aws, openAws, operatorEnvironment } from '../support/aws/aws.ts'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { until } from '../support/wait.ts'

/** An administrator connects AWS in the console, from nothing to access in AWS. */
suite('connecting AWS in the console', { skip: skipChromium }, async () => {
  const aws = await openAws({ rate: 10_000, outstanding: 1_000 })
  const { sallyport, people, signIn, sound } = await openConsoleStage({
    ...operatorEnvironment,
    // The SDK's own variable: the console offers no other address.
    AWS_ENDPOINT_URL: aws.origin,
    EGRESS_ALLOW: '127.0.0.1',
  })
  const owner = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  await owner('PUT', '/v1/settings/auth.second_factor_required', { value: 'false' })
  await owner('PUT', '/v1/settings/requests.max_duration_seconds', { value: '1800' })
  const kim = await sallyport.join('Kim Novak', ['admin'])
  const held = furnish(aws, [people.dana.email, people.ada.email, kim.email])
  const window = await signIn(kim, 'start')
  const { page } = window
  const form = page.getByRole('form', { name: 'Connect AWS' })
  const step = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('heading', { name }) })
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: typeof name === 'string' })
  const snippet = page.getByRole('region', { name: 'Snippet' })
  const checks = page.getByRole('list', { name: 'Checks' }).getByRole('listitem')
  const marks = (name: string) => checks.getByRole('img', { name })

  test('what is missing is said at its field', async () => {
    await button('Go').click()
    await form.getByText('Enter a region, such as eu-central-1.').waitFor()
    await form.getByText('Enter the 12 digits of the account.').waitFor()
    await sound(window, 'aws-answers')
  })

  test('three answers lead to the snippet, which is shown once', async () => {
    await form.getByLabel('Region').fill(aws.region)
    await form.getByLabel('Account').fill('1111-1111 1111')
    await button('Go').click()
    await page.waitForURL(/\/console\/aws\?connection=/)
    await page.getByText('arn:aws:iam::111111111111:user/sallyport').first().waitFor()
    await step('Make the role in AWS').getByText('It is shown only now.').waitFor()
    assert.match((await snippet.textContent()) ?? '', /AWSTemplateFormatVersion/)
    await page.getByText('aws cloudformation deploy').waitFor()
    await sound(window, 'aws-snippet')
    await page.getByText('Terraform', { exact: true }).click()
    await page.getByText('terraform apply').waitFor()
    assert.match((await snippet.textContent()) ?? '', /aws_iam_role/)
    const [download] = await Promise.all([page.waitForEvent('download'), button('Download sallyport.tf').click()])
    assert.equal(download.suggestedFilename(), 'sallyport.tf')
    await page.reload()
    await page.getByText('If it is lost, make a new external id').waitFor()
    assert.equal(await snippet.count(), 0)
  })

  test('before the role is there, the test says what to do, and what it did not check', async () => {
    await button('Test').click()
    await page.getByText(/^1 check failed/).waitFor()
    assert.deepEqual([await marks('Passed').count(), await marks('Failed').count()], [1, 1])
    assert.equal(await marks('Not checked yet').count(), 5)
    await checks.getByText('its trust policy must name the identity of the service').waitFor()
    await sound(window, 'aws-refused')
  })

  test('with a new external id comes the snippet again; once it is applied, seven lines tick', async () => {
    await button('Make a new external id').click()
    await snippet.waitFor()
    aws.applyTemplate((await snippet.textContent()) ?? '')
    await button('Test').click()
    await page.getByText(/^Everything passed/).waitFor()
    assert.equal(await marks('Passed').count(), 7)
    await sound(window, 'aws-passed')
  })

  test('what AWS holds is read, and who would get nothing is listed', async () => {
    const sight = step('What Sallyport sees')

    await sight.getByText('4 accounts, 2 permission sets, 3 people.').waitFor()
    await sight.getByText('Also 1 organizational unit and 1 group.').waitFor()
    await sight.getByText('2 people do not match.').waitFor()
    const unmatched = sight.getByRole('list', { name: 'People who do not match' })
    await unmatched.getByText(`Looked for: ${people.ben.email}`).waitFor()
    assert.equal(await unmatched.getByText(people.ada.email).count(), 0)
    await sight.getByText('go on after the longest access, of 30 min.').waitFor()
    const long = sight.getByRole('list', { name: 'Permission sets with long sessions' })
    assert.match((await long.textContent()) ?? '', /AdministratorAccess.*sessions of 1 h/)
    await sound(window, 'aws-seen')
  })

  test('to turn it on makes the tenant live, and the first steps say so', async () => {
    await button('Turn on').click()
    const question = page.getByRole('alertdialog', { name: 'Turn on access in AWS?' })
    await question.getByText('This tenant goes live, for good').waitFor()
    await sound(window, 'aws-turn-on')
    await question.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('This tenant is now live.').waitFor()
    await page.getByText('Rehearsal: nothing here is real').waitFor({ state: 'detached' })
    await sound(window, 'aws-live')
    const { body } = await kim.call<{ data: { enabled: boolean; serves: object[]; mode: string }[] }>(
      'GET',
      '/v1/provisioners',
    )
    assert.deepEqual(
      body.data.map(({ enabled, serves, mode }) => ({ enabled, serves, mode })),
      [{ enabled: true, serves: [{ resource_type: 'cloud_account' }], mode: 'live' }],
    )
    await page.getByRole('link', { name: 'Set up' }).first().click()
    await page.getByText('It is on: access is given in AWS.').waitFor()
    await page.getByRole('link', { name: 'Open AWS' }).click()
    await page.getByText('This tenant is now live.').waitFor()
  })

  test('who holds what is shown by account and by person, and is saved as a table', async () => {
    const standing = page.getByRole('list', { name: 'Standing access' })
    const rows = standing.getByRole('listitem').filter({ has: page.getByRole('listitem') })
    await page.getByText(held.total).waitFor()
    await standing.getByText('Administrator', { exact: true }).first().waitFor()
    await sound(window, 'aws-standing')
    await page.getByText('By person', { exact: true }).click()
    await page.waitForURL(/order=person/)
    await until('each person is a heading', async () => (await rows.count()) === 3)
    await page.getByLabel('Administrators only').check()
    await until('those who are none are gone', async () => (await rows.count()) === 1)
    const [download] = await Promise.all([page.waitForEvent('download'), button('Download CSV').click()])
    assert.equal(download.suggestedFilename(), 'standing-access.csv')
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\r\n')
    assert.equal(lines.length, 3, lines.join('\n'))
    await page.getByLabel('Search', { exact: true }).fill('nothing has this name')
    await page.getByText('Nothing matches.').waitFor()
    await sound(window, 'aws-standing-none')
    await button('Clear filters').click()
    await until('all are back', async () => (await rows.count()) === 3)
    assert.equal(new URL(page.url()).searchParams.get('q'), null)
  })

  test('what Sallyport gives is marked, and leads to the grant', async () => {
    const resource = { type: 'cloud_account', id: held.account }
    const asked = { resource, action: 'ReadOnlyAccess', duration_seconds: 900, reason: 'a look' }
    const request = await people.dana.call('POST', '/v1/requests', asked)
    assert.equal(request.status, 201, JSON.stringify(request.body))
    await until('AWS has it', async () => aws.assignments().length === 6)
    const given = page.getByRole('link', { name: 'Given by Sallyport' })
    await button('Read again').click()
    await given.waitFor()
    await page.getByText('6 assignments, 1 administrator').waitFor()
    await sound(window, 'aws-given')
    await given.click()
    await page.getByText('Dana Lee requests ReadOnlyAccess').waitFor()
    await page.goBack()
  })

  test('all of it fits in German', async () => {
    await kim.call('PATCH', '/v1/users/me/preferences', { locale: 'de' })
    await page.reload()
    await page.getByText('Diese Organisation ist jetzt im Echtbetrieb.').waitFor()
    await page.getByText('Bestehender Zugriff').first().waitFor()
    await sound(window, 'aws-german')
  })

  test('who may only see the connection changes nothing, and who may not see it is not led there', async () => {
    const eyes = await sallyport.join('Ona Eyes', ['user'])
    await kim.call('PUT', `/v1/users/${eyes.id}/roles`, { roles: ['auditor'] })
    const ona = await signIn(eyes, 'aws')
    await ona.page.getByText('You may see this connection, and not change it.').waitFor()
    await ona.page.getByText('6 assignments, 1 administrator').waitFor()
    for (const name of ['Test again', 'Read again', 'Make a new external id'])
      assert.equal(await ona.page.getByRole('button', { name }).count(), 0, name)
    const dana = await signIn('dana')
    assert.equal(await dana.page.getByRole('link', { name: 'AWS', exact: true }).count(), 0)
  })
})

/**
 * An organization of which AWS knows these people. `total`: what they hold, as the page says it; `account`: where a rule
 * approves ReadOnlyAccess at once.
 */
function furnish(aws: Aws, emails: readonly string[]): { total: string; account: string } {
  const [first = '', ...others] = emails.map((email) => aws.addUser(email))
  const group = aws.addGroup('Operations', others)
  const unit = aws.addUnit(aws.root_id, 'Workloads')
  const accounts = [
    aws.addAccount('ACTIVE', aws.root_id, { env: 'test' }),
    aws.addAccount('ACTIVE', unit),
    aws.addAccount('ACTIVE', unit),
  ]
  const administrator = aws.addPermissionSet(
    'AdministratorAccess',
    {},
    { managed: ['arn:aws:iam::aws:policy/AdministratorAccess'] },
  )
  const reader = aws.addPermissionSet('ReadOnlyAccess')
  for (const account of accounts) aws.assignByHand(account, reader, group)
  for (const account of accounts.slice(1)) aws.assignByHand(account, administrator, first)
  return { total: '5 assignments, 1 administrator', account: accounts[0] ?? '' }
}
