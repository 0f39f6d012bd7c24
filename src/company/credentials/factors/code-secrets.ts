/** What the encrypted secret of a user's one-time codes is bound to. */
export const codeSecretOwner = (companyId: string, userId: string): readonly string[] => [companyId, userId, 'codes'];
