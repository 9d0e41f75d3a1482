// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {SplitRouter} from "../../src/SplitRouter.sol";
import {ICommissionEscrowErrors} from "../../src/interfaces/ICommissionEscrowErrors.sol";
import {ISplitRouterErrors} from "../../src/interfaces/ISplitRouterErrors.sol";
import {RouterTest} from "../base/RouterTest.sol";

contract RefundDepositTest is RouterTest {
    bytes32 private constant TX_HASH = keccak256("transfer");

    SplitRouter.Charge private charge;

    function setUp() public override {
        super.setUp();
        transferToRouter(buyer, PRICE);
        charge = signCharge(buyer, TX_HASH, PRICE, buyerAgentId);
    }

    function test_succeeds_whenThePayerSigned() public {
        bytes32 nonce = router.chargeNonce(TX_HASH);
        vm.expectEmit(address(router));
        emit SplitRouter.PaymentRefunded(buyer.addr, nonce, PRICE);
        refundDeposit();
        assertBalance(buyer.addr, FUNDS, "buyer");
        assertBalance(address(router), 0, "router");
        assertTrue(router.refunded(buyer.addr, nonce));
    }

    function test_reverts_whenRefundedTwice() public {
        refundDeposit();
        transferToRouter(walletBuyer, PRICE);
        vm.expectRevert(
            abi.encodeWithSelector(
                ISplitRouterErrors.PaymentAlreadyRefunded.selector, buyer.addr, router.chargeNonce(TX_HASH)
            )
        );
        refundDeposit();
        assertBalance(buyer.addr, FUNDS, "buyer");
    }

    function test_reverts_whenSplit() public {
        SplitRouter.Attribution memory attributed = attribution();
        vm.prank(settler);
        router.splitDeposit(charge, attributed);
        transferToRouter(walletBuyer, PRICE);
        vm.expectRevert(
            abi.encodeWithSelector(
                ICommissionEscrowErrors.PaymentAlreadySplit.selector, buyer.addr, router.chargeNonce(TX_HASH), 1
            )
        );
        refundDeposit();
        assertBalance(buyer.addr, FUNDS - PRICE, "buyer");
    }

    function test_reverts_whenThePayerDidNotSign() public {
        charge.signature = sign(reviewer, chargeDigest(charge, buyerAgentId));
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, buyer.addr));
        refundDeposit();
    }

    function test_reverts_whenAnotherPayerIsNamed() public {
        charge.payer = walletBuyer.addr;
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.InvalidSignature.selector, walletBuyer.addr));
        refundDeposit();
    }

    function test_reverts_whenMoreIsClaimedThanLiesThere() public {
        charge.value = PRICE + 1;
        vm.expectRevert(abi.encodeWithSelector(ISplitRouterErrors.NotEnoughUnsplit.selector, PRICE + 1, PRICE));
        refundDeposit();
    }

    function test_reverts_whenTheEscrowIsPaused() public {
        vm.prank(guardian);
        escrow.pause();
        vm.expectRevert(abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        refundDeposit();
        assertBalance(address(router), PRICE, "router");
    }

    function test_reverts_whenNotASettlerCalls() public {
        vm.expectRevert(missingRole(buyer.addr, "SETTLER_ROLE"));
        vm.prank(buyer.addr);
        router.refundDeposit(charge, buyerAgentId);
    }

    function refundDeposit() private {
        vm.prank(settler);
        router.refundDeposit(charge, buyerAgentId);
    }
}
