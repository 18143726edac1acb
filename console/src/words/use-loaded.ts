import { useEffect, useState } from 'react'

/**
 * What is loaded for a locale, once it is there; undefined before the first time. `load` and `fallback`, which is taken where loading fails, are
 * the same each time.
 */
export function useLoaded<Loaded extends object>(
  load: (locale: string) => Promise<Loaded>,
  locale: string,
  fallback: Loaded,
): Loaded | undefined {
  const [loaded, setLoaded] = useState<Loaded>()
  useEffect(() => {
    let isCurrent = true
    load(locale).then(
      (found) => isCurrent && setLoaded(found),
      () => isCurrent && setLoaded(fallback),
    )
    return () => {
      isCurrent = false
    }
  }, [load, locale, fallback])
  return loaded
}
