import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { skipChromium } from '../support/chromium.ts'
import { openConsoleStage } from '../support/console-stage.ts'
import { freePort } from '../support/free-port.ts'
import { openRelay } from '../support/relay.ts'

/** A device of Chromium's own that makes passkeys, and confirms for the person who holds it. */
async function giveDevice(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  })
  const credentials = async () => (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials
  return {
    kept: async () => (await credentials()).length,
    /** From here on the person confirms, or turns away. */
    confirms: (isUserVerified: boolean) =>
      devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}

/** No passkey is possible at the address of a machine, so the service is reached by a name. */
suite('a passkey in the console', { skip: skipChromium }, async () => {
  const port = await freePort()
  const { sallyport, signIn, enter, sound } = await openConsoleStage({ PUBLIC_URL: `http://localhost:${port}` })
  await openRelay(port, sallyport.base_url)
  const person = await sallyport.join('Ines Juhl', ['user'])
  const window = await signIn(person, 'me')
  const { page } = window
  const device = await giveDevice(page)
  const add = page.getByRole('button', { name: 'Add a passkey' })
  const prove = page.getByRole('button', { name: 'Use your passkey' })
  const main = page.getByRole('navigation', { name: 'Main' }).first()

  test('is not added where the person does not confirm', async () => {
    await page.getByLabel('Name', { exact: true }).fill('laptop')
    await device.confirms(false)
    await add.click()
    await page.getByText('The browser made no passkey.').waitFor()
    assert.equal(await device.kept(), 0)
    await page.getByText('You have none.').waitFor()
  })

  test('is added with recovery codes', async () => {
    await device.confirms(true)
    await add.click()
    await page.getByText('“laptop” is added. The next sign-in asks for it.').waitFor()
    assert.equal(await device.kept(), 1)
    await page.getByText('You have 10 recovery codes left.').waitFor()
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await sound(window, 'me-passkey')
  })

  test('is asked for at the next sign-in, and lets nobody in who does not confirm', async () => {
    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await page.getByLabel('Passphrase', { exact: true }).waitFor()
    await enter(window, person)
    await prove.waitFor()
    await sound(window, 'sign-in-passkey')
    await device.confirms(false)
    await prove.click()
    await page.getByText('The passkey was not used.').waitFor()
    assert.equal(await main.count(), 0)
    await device.confirms(true)
    await prove.click()
    await main.waitFor()
  })

  test('is made once for a device, by a person who signed in with it', async () => {
    await page.goto(`http://localhost:${port}/console/me`)
    await add.click()
    await page.getByText('This device has a passkey of yours already.').waitFor()
    assert.equal(await device.kept(), 1)
  })

  test('is removed, and then the passphrase alone signs in', async () => {
    await page.getByRole('button', { name: 'Remove laptop' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('You have none.').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).first().click()
    await page.getByLabel('Passphrase', { exact: true }).waitFor()
    await enter(window, person)
    await main.waitFor()
  })
})
