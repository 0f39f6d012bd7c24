/** The required fields of a request body, by its name in openapi.json. scripts/console.ts provides them. */
declare module 'openapi:*' {
  const limits: Record<string, { required?: true }>;
  export default limits;
}
