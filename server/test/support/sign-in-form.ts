import type { Page } from './chromium.ts'

type Account = { email: string; password: string; tenant_id: string }

/** Fills in and sends the sign-in that a page of the console shows. */
export async function fillInSignIn(page: Page, { email, password, tenant_id }: Account): Promise<void> {
  await page.getByLabel('E-mail address').fill(email)
  await page.getByLabel('Passphrase').fill(password)
  await page.getByLabel('Organization').fill(tenant_id)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
