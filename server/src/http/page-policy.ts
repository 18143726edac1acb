/** The policy of the console's pages: a page runs its own files alone, and calls nothing but this service. */
export const pagePolicy = [
  `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'`,
  `base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors 'none'`,
].join('; ')
