import type { Refusal } from '@sallyport/client'

export const actions = {
  cancel: 'Cancel',
  keep: 'Cancel',
  copied: 'Copied',
  copy: (what: string) => `Copy ${what}`,
}

export const lists = {
  loading: 'Loading',
  unreachable: 'The service does not answer. Is your network up?',
  tryNow: 'Try now',
  requestId: 'For your administrator:',
  loadMore: 'Load more',
  /** Some pages of an answer are empty though more follows. */
  searching: 'Searching…',
}

const byCode: Partial<Record<Refusal['code'], string>> = {
  rate_limited: 'Too many attempts. Wait a moment, then try again.',
  unavailable: 'The service is busy. Try again in a moment.',
  internal: 'Something broke on our side. Try again; if it happens again, give your administrator the id below.',
}

/** A refusal as a sentence. The service writes its messages for the person who made the call. */
export const refusal = ({ code, message }: Pick<Refusal, 'code' | 'message'>): string =>
  byCode[code] ?? `${message.charAt(0).toUpperCase()}${message.slice(1)}.`
