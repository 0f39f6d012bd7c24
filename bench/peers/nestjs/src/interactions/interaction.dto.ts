import { IsIn, IsOptional, IsString, Matches, MaxLength } from 'class-validator';

export const ICONS: Record<string, { icon: string; formattedType: string }> = {
  phone: { icon: 'phone', formattedType: 'Phone' },
  email: { icon: 'envelope', formattedType: 'Email' },
  SMS: { icon: 'comment', formattedType: 'SMS' },
  appointment: { icon: 'calendar', formattedType: 'Appointment' },
  letter: { icon: 'file-lines', formattedType: 'Letter' },
  video_conference: { icon: 'video', formattedType: 'Video conference' },
  other: { icon: 'circle-info', formattedType: 'Other' },
};

/** The body of a create and of an update. */
export class InteractionDto {
  @IsIn(Object.keys(ICONS))
  type: string;

  @IsOptional()
  @IsString()
  @MaxLength(255)
  notes?: string;

  @IsOptional()
  @Matches(/^\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?$/)
  when?: string;

  @IsOptional()
  @IsString()
  @MaxLength(255)
  recipient?: string;

  @IsOptional()
  @IsString()
  @MaxLength(255)
  sender?: string;
}
