// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowEvents} from "../../src/interfaces/ICommissionEscrowEvents.sol";
import {MarketTest} from "./MarketTest.sol";

/// @notice What tests of the router expect of a purchase: all of it, or nothing.
abstract contract RouterTest is MarketTest {
    bytes32 private constant CHARGE_TYPEHASH =
        keccak256("ChargeCommitment(bytes32 txHash,bytes32 tokenHash,uint256 buyerAgentId,address payer)");

    /// @dev The purchase that `buy()` settles, not settled yet.
    function purchaseOf(Wallet memory payer) internal returns (SplitRouter.Purchase memory) {
        return signPurchase(payer, PRICE, RECEIVE, attribution());
    }

    function transferPurchaseOf(Wallet memory payer) internal returns (SplitRouter.Purchase memory) {
        return signPurchase(payer, PRICE, TRANSFER, attribution());
    }

    /// @dev Submits a transfer authorisation to the token alone, as a front-runner does.
    function frontRun(SplitRouter.Authorization memory authorization) internal {
        vm.prank(stranger);
        usdc.transferWithAuthorization(
            authorization.from,
            address(router),
            authorization.value,
            authorization.validAfter,
            authorization.validBefore,
            authorization.nonce,
            authorization.signature
        );
    }

    /// @dev A charge for a plain transfer that `payer` made in `txHash`.
    function signCharge(Wallet memory payer, bytes32 txHash, uint256 value, uint256 agentId)
        internal
        view
        returns (SplitRouter.Charge memory charge)
    {
        charge =
            SplitRouter.Charge({txHash: txHash, payer: payer.addr, value: value, tokenHash: keccak256("token"), signature: ""});
        charge.signature = sign(payer, chargeDigest(charge, agentId));
    }

    function chargeDigest(SplitRouter.Charge memory charge, uint256 agentId) internal view returns (bytes32) {
        bytes32 structHash = keccak256(abi.encode(CHARGE_TYPEHASH, charge.txHash, charge.tokenHash, agentId, charge.payer));
        return typedDataHash(domainSeparator("ReferrerCharge", "1", address(router)), structHash);
    }

    /// @dev A stranger gives a plain transfer back, by the settler's permission.
    function takeBackDeposit(SplitRouter.Charge memory charge, uint256 agentId) internal {
        bytes32 nonce = keccak256(abi.encode(CHARGE_TYPEHASH, charge.txHash));
        bytes memory permission = signPermission(settlerWallet, charge.payer, nonce, charge.value, 0);
        vm.prank(stranger);
        router.takeBackDeposit(charge, agentId, 0, permission);
    }

    function transferToRouter(Wallet memory payer, uint256 value) internal {
        vm.prank(payer.addr);
        usdc.transfer(address(router), value);
    }

    /// @dev Settles as `caller`, who must be refused with exactly this reason and without a trace.
    function assertRefused(address caller, SplitRouter.Purchase memory purchase, bytes memory reason) internal {
        uint256 balance = usdc.balanceOf(purchase.authorization.from);
        uint256 lastEscrowId = escrow.lastEscrowId();
        vm.expectRevert(reason);
        vm.prank(caller);
        router.settle(purchase);
        assertBalance(purchase.authorization.from, balance, "payer");
        assertFalse(
            usdc.authorizationState(purchase.authorization.from, purchase.authorization.nonce), "authorisation used"
        );
        assertEq(escrow.lastEscrowId(), lastEscrowId, "escrows");
    }

    function assertRefused(SplitRouter.Purchase memory purchase, bytes memory reason) internal {
        assertRefused(settler, purchase, reason);
    }

    /// @dev The parts of one `purchaseOf(payer)` are where they belong, and nothing else is anywhere.
    function assertSplit(address payer) internal view {
        assertBalance(payer, FUNDS - PRICE, "payer");
        assertBalance(merchant.addr, MERCHANT_NET, "merchant");
        assertBalance(reviewer.addr, IMMEDIATE, "reviewer");
        assertBalance(address(escrow), HELD_BACK + CASHBACK + FEE, "escrow");
        assertBalance(address(router), 0, "router");
        assertBalance(treasury, 0, "treasury");
    }

    function expectDeposit(address payer, bytes32 nonce) internal {
        vm.expectEmit(address(escrow));
        emit ICommissionEscrowEvents.EscrowDeposited({
            escrowId: escrow.lastEscrowId() + 1,
            reviewerAgentId: reviewerAgentId,
            buyerAgentId: buyerAgentId,
            payer: payer,
            nonce: nonce,
            merchantId: merchantId,
            productId: PRODUCT,
            reviewId: reviewId,
            price: PRICE,
            commission: COMMISSION,
            fee: FEE,
            heldBack: HELD_BACK,
            cashback: CASHBACK,
            windowEnd: block.timestamp + 60 days
        });
    }

    function isSplit(SplitRouter.Purchase memory purchase) internal view returns (bool) {
        (uint256 escrowId,,,) = escrow.escrowOf(purchase.authorization.from, purchase.authorization.nonce);
        return escrowId != 0;
    }
}
