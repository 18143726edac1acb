import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { openAws, operatorEnvironment } from '../support/aws/aws.ts'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'

/** An administrator connects AWS in the console, from nothing to access in AWS. */
suite('connecting AWS in the console', { skip: skipChromium }, async () => {
  const aws = await openAws({ rate: 10_000, outstanding: 1_000 })
  const { sallyport, signIn, sound } = await openConsoleStage({
    ...operatorEnvironment,
    // The SDK's own variable: the console offers no other address.
    AWS_ENDPOINT_URL: aws.origin,
    EGRESS_ALLOW: '127.0.0.1',
  })
  const owner = sallyport.client({ api_key: sallyport.bootstrap.api_key })
  await owner('PUT', '/v1/settings/auth.second_factor_required', { value: 'false' })
  const kim = await sallyport.join('Kim Novak', ['admin'])
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
})
