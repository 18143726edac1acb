/** What a browser remembers of a sign-in. None of it is secret, and none of it gives anything. */
export type Remembered = { tenant_id: string; organization: string; email: string }

const place = 'sallyport-sign-in'

export function readRemembered(): Remembered | undefined {
  try {
    const read = JSON.parse(localStorage.getItem(place) ?? '') as Partial<Remembered>
    const { tenant_id, organization, email } = read
    return typeof tenant_id === 'string' && typeof organization === 'string' && typeof email === 'string'
      ? { tenant_id, organization, email }
      : undefined
  } catch {
    return undefined
  }
}

export function remember(remembered: Remembered): void {
  localStorage.setItem(place, JSON.stringify(remembered))
}
