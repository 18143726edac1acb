import { randomBytes } from 'node:crypto'

/** A place where secrets must not appear, and its full text. */
export type Corpus = { where: string; text: string }

/** The secrets of one run: each with a description and the forms to search for. */
export class CanarySecrets {
  readonly #all = new Map<string, string>()
  readonly seen: Corpus[] = []

  /** Registers a new secret, or one that the service made. Returns it. */
  plant(what: string, text = `canary${randomBytes(12).toString('hex')}`): string {
    this.#all.set(text, what)
    return text
  }

  get count(): number {
    return this.#all.size
  }

  /** Keeps an answer or an output, to be searched at the end; `shown` lists the secrets that it may show this once. */
  keep(where: string, text: string, shown: readonly string[] = []): void {
    this.seen.push({ where, text: shown.reduce((rest, secret) => rest.replaceAll(secret, ''), text) })
  }

  /** The secrets found in a text, in any of the encodings that programs use. */
  findIn({ where, text }: Corpus): string[] {
    const lower = text.toLowerCase()
    return [...this.#all].flatMap(([secret, what]) => {
      const bytes = Buffer.from(secret)
      const isThere =
        [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)].some((form) => text.includes(form)) ||
        // Without the last letters, which depend on the text that follows.
        text.includes(bytes.toString('base64').slice(0, -4)) ||
        lower.includes(bytes.toString('hex'))
      return isThere ? [`${what} in ${where}`] : []
    })
  }

  /** The secrets found in all kept texts. */
  findAll(): string[] {
    return [...new Set(this.seen.flatMap((corpus) => this.findIn(corpus)))]
  }
}
