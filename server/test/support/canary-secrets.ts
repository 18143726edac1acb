import { randomBytes } from 'node:crypto'

/** A place where secrets must not be, and all that it says. */
export type Corpus = { where: string; text: string }

/** The secrets of one run, each with what it is, and how it is looked for. */
export class CanarySecrets {
  readonly #all = new Map<string, string>()
  readonly seen: Corpus[] = []

  /** A new secret, or one that the service made. Answers it. */
  plant(what: string, text = `canary${randomBytes(12).toString('hex')}`): string {
    this.#all.set(text, what)
    return text
  }

  get count(): number {
    return this.#all.size
  }

  /** Keeps what was answered or said, to be looked through at the end; `shown` is what it shows this once. */
  keep(where: string, text: string, shown: readonly string[] = []): void {
    this.seen.push({ where, text: shown.reduce((rest, secret) => rest.replaceAll(secret, ''), text) })
  }

  /** Which secrets stand where, in any of the forms that programs write text in. */
  findIn({ where, text }: Corpus): string[] {
    const lower = text.toLowerCase()
    return [...this.#all].flatMap(([secret, what]) => {
      const bytes = Buffer.from(secret)
      const isThere =
        [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)].some((form) => text.includes(form)) ||
        // Without its last letters, which depend on what stands behind.
        text.includes(bytes.toString('base64').slice(0, -4)) ||
        lower.includes(bytes.toString('hex'))
      return isThere ? [`${what} in ${where}`] : []
    })
  }

  /** The same of all that was kept. */
  findAll(): string[] {
    return [...new Set(this.seen.flatMap((corpus) => this.findIn(corpus)))]
  }
}
