import { Body, Controller, Get, HttpCode, Param, ParseUUIDPipe, Patch, Post, Req, UseGuards } from '@nestjs/common';
import { AuthGuard, type CompanyRequest } from '../auth.guard.js';
import { InteractionDto } from './interaction.dto.js';
import { InteractionsService } from './interactions.service.js';

@Controller('cases/:caseId/interactions')
@UseGuards(AuthGuard)
export class InteractionsController {
  constructor(private readonly interactions: InteractionsService) {}

  @Get()
  list(@Req() { company }: CompanyRequest, @Param('caseId', ParseUUIDPipe) caseId: string) {
    return this.interactions.list(company, caseId);
  }

  @Post()
  @HttpCode(200)
  create(
    @Req() { company }: CompanyRequest,
    @Param('caseId', ParseUUIDPipe) caseId: string,
    @Body() body: InteractionDto,
  ) {
    return this.interactions.create(company, caseId, body);
  }

  @Patch(':id')
  update(
    @Req() { company }: CompanyRequest,
    @Param('caseId', ParseUUIDPipe) caseId: string,
    @Param('id', ParseUUIDPipe) id: string,
    @Body() body: InteractionDto,
  ) {
    return this.interactions.update(company, caseId, id, body);
  }
}
